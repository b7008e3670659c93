#include "cgpo/taskfile/syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

constexpr std::array<std::string_view, 3> kWords = {"and", "or", "not"};
constexpr std::array<std::string_view, 6> kComparisons = {"<=", ">=", "==", "!=", "<", ">"};
constexpr std::string_view kBlanks = " \t\r\n";

class ExpressionParser {
 public:
  explicit ExpressionParser(const SourceText& source) : source_(source), text_(source.text) {}

  // What it finds goes to `expression`, whose source it reads.
  void parse(Expression& expression) {
    while (accept_local(expression.locals)) nodes_ = 0;
    expression.root = read_or();
    skip_blanks();
    if (at_ < text_.size()) fail(fmt::format("{} was not expected here", word_here()));
  }

 private:
  // name = … ;
  bool accept_local(std::vector<LocalName>& locals) {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ >= text_.size() || !begins_name(text_[at_])) return false;
    LocalName local{.name = read_name(""), .at = begin, .value = {}};
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("=") || rest.starts_with("==")) {
      at_ = begin;
      return false;
    }
    if (!is_name(local.name)) source_.fail(begin, fmt::format("'{}' cannot be the name of a value", local.name));
    ++at_;
    local.value = read_or();
    expect(";", fmt::format("the value of {}", local.name));
    locals.push_back(std::move(local));
    return true;
  }

  // One level of calls deeper, for as long as the object lives.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepestExpression) {
        parser_.fail(fmt::format("an expression is at most {} levels deep", kDeepestExpression));
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser& parser_;
  };

  [[noreturn]] void fail(const std::string& sentence) const { source_.fail(at_, sentence); }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  // What stands here, for a message.
  std::string word_here() {
    skip_blanks();
    if (at_ >= text_.size()) return "the end of the expression";
    std::size_t end = at_ + 1;
    if (continues_name(text_[at_])) {
      while (end < text_.size() && continues_name(text_[end])) ++end;
      return fmt::format("'{}'", text_.substr(at_, end - at_));
    }
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0U) == 0x80) ++end;
    return fmt::format("'{}'", printable(text_.substr(at_, end - at_)));
  }

  bool accept(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const bool word = begins_name(sign.front());
    if (word && at_ + sign.size() < text_.size() && continues_name(text_[at_ + sign.size()])) return false;
    at_ += sign.size();
    return true;
  }

  void expect(std::string_view sign, std::string_view after) {
    if (!accept(sign)) fail(fmt::format("'{}' is missing after {}, before {}", sign, after, word_here()));
  }

  SyntaxNode call(std::size_t at, std::string_view name, std::vector<SyntaxNode> inner) const {
    return {.kind = NodeKind::kCall, .at = at, .word = std::string(name), .inner = std::move(inner)};
  }

  // { sign operand }, from the left.
  template <class Read, std::size_t N>
  SyntaxNode read_chain(const Read& read, const std::array<std::string_view, N>& signs) {
    SyntaxNode left = read();
    for (;;) {
      skip_blanks();
      const std::size_t begin = at_;
      const auto sign = std::find_if(signs.begin(), signs.end(), [&](std::string_view s) { return accept(s); });
      if (sign == signs.end()) return left;
      left = nest(call(begin, *sign, {std::move(left), read()}));
    }
  }

  // A chain of operators makes a tree as deep as it is long, which others walk.
  SyntaxNode nest(SyntaxNode node) {
    if (++nodes_ > kMostOperators) fail(fmt::format("an expression has at most {} operators", kMostOperators));
    return node;
  }

  SyntaxNode read_or() {
    const Level level(*this);
    return read_chain([this] { return read_and(); }, std::array<std::string_view, 1>{"or"});
  }
  SyntaxNode read_and() {
    return read_chain([this] { return read_not(); }, std::array<std::string_view, 1>{"and"});
  }
  SyntaxNode read_not() {
    const Level level(*this);
    skip_blanks();
    const std::size_t begin = at_;
    if (accept("not")) return call(begin, "not", {read_not()});
    return read_comparison();
  }

  SyntaxNode read_comparison() {
    SyntaxNode all{.kind = NodeKind::kComparison};
    all.inner.push_back(read_sum());
    for (;;) {
      skip_blanks();
      const std::size_t begin = at_;
      const auto sign =
          std::find_if(kComparisons.begin(), kComparisons.end(), [&](std::string_view s) { return accept(s); });
      if (sign == kComparisons.end()) break;
      if (all.signs.empty()) all.at = begin;
      all.signs.emplace_back(*sign);
      all.inner.push_back(nest(read_sum()));
    }
    if (!all.signs.empty()) return all;
    SyntaxNode alone = std::move(all.inner.front());
    return alone;
  }

  SyntaxNode read_sum() {
    return read_chain([this] { return read_product(); }, std::array<std::string_view, 2>{"+", "-"});
  }
  SyntaxNode read_product() {
    return read_chain([this] { return read_sign(); }, std::array<std::string_view, 2>{"*", "/"});
  }
  SyntaxNode read_sign() {
    const Level level(*this);
    skip_blanks();
    const std::size_t begin = at_;
    if (accept("-")) return call(begin, "neg", {read_sign()});
    if (accept("+")) return read_sign();
    return read_power();
  }
  SyntaxNode read_power() {
    SyntaxNode base = read_postfix();
    skip_blanks();
    const std::size_t begin = at_;
    if (text_.substr(at_).starts_with("**")) fail("powers are written with ^, as in x^2");
    if (!accept("^")) return base;
    return nest(call(begin, "^", {std::move(base), read_sign()}));
  }

  SyntaxNode read_postfix() {
    SyntaxNode node = read_primary();
    for (int follows = 0;; ++follows) {
      skip_blanks();
      const std::size_t begin = at_;
      if (follows > kDeepestExpression) fail(fmt::format("at most {} indices follow each other", kDeepestExpression));
      if (accept("[")) {
        SyntaxNode index = read_index(begin);
        index.inner.push_back(std::move(node));
        node = std::move(index);
      } else if (accept(".")) {
        skip_blanks();
        const std::size_t name_at = at_;
        std::string name = read_name("a name is missing after '.'");
        node = {.kind = NodeKind::kMember, .at = name_at, .word = std::move(name), .inner = {std::move(node)}};
      } else {
        return node;
      }
    }
  }

  // Behind the bracket: 3] or 1:4] or :-1].
  SyntaxNode read_index(std::size_t begin) {
    SyntaxNode node{.kind = NodeKind::kIndex, .at = begin};
    const bool has_first = !accept(":");
    if (has_first) node.first = read_whole();
    if (!has_first || accept(":")) {
      node.kind = NodeKind::kSlice;
      skip_blanks();
      node.has_last = at_ < text_.size() && text_[at_] != ']';
      if (node.has_last) node.last = read_whole();
    }
    expect("]", "an index");
    return node;
  }

  int read_whole() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    int value = 0;
    const char* const end = text_.data() + at_;
    const auto [stopped, wrong] = std::from_chars(text_.data() + begin, end, value);
    if (wrong != std::errc() || stopped != end || std::abs(value) > kLargestIndex) {
      at_ = begin;
      fail(fmt::format("an index is a whole number, not {}", word_here()));
    }
    return value;
  }

  std::string read_name(const char* missing) {
    if (at_ >= text_.size() || !begins_name(text_[at_])) fail(missing);
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  SyntaxNode read_primary() {
    const Level level(*this);
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ >= text_.size()) fail("a value is missing at the end of the expression");
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return read_number();
    if (c == '\'' || c == '"') return read_text();
    if (begins_name(c)) {
      std::string name = read_name("");
      if (std::find(kWords.begin(), kWords.end(), name) != kWords.end()) {
        at_ = begin;
        fail(fmt::format("a value is missing before '{}'", name));
      }
      if (!accept("(")) return {.kind = NodeKind::kName, .at = begin, .word = std::move(name)};
      return call(begin, name, read_list(")", fmt::format("the arguments of {}", name)));
    }
    if (accept("(")) {
      SyntaxNode inner = read_or();
      expect(")", "the expression in brackets");
      return inner;
    }
    if (accept("[")) {
      std::vector<SyntaxNode> entries = read_list("]", "the entries of a vector");
      return {.kind = NodeKind::kVector, .at = begin, .inner = std::move(entries)};
    }
    fail(fmt::format("a value is missing before {}", word_here()));
  }

  std::vector<SyntaxNode> read_list(std::string_view close, const std::string& what) {
    std::vector<SyntaxNode> entries;
    if (accept(close)) return entries;
    do entries.push_back(nest(read_or()));
    while (accept(","));
    expect(close, what);
    return entries;
  }

  SyntaxNode read_number() {
    const std::size_t begin = at_;
    double value = 0.0;
    const auto [end, wrong] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (wrong != std::errc() || !std::isfinite(value)) fail("this number is too large or too small");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && continues_name(text_[at_])) fail(fmt::format("{} follows a number", word_here()));
    return {.kind = NodeKind::kNumber, .at = begin, .number = value};
  }

  SyntaxNode read_text() {
    const std::size_t begin = at_;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) fail("the quotes that open here are not closed");
    at_ = end + 1;
    return {.kind = NodeKind::kText, .at = begin, .word = std::string(text_.substr(begin + 1, end - begin - 1))};
  }

  static constexpr int kMostOperators = 1000;
  static constexpr int kLargestIndex = 1'000'000;

  const SourceText& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int nodes_ = 0;
};

}  // namespace

std::string place_words(const std::string& file, const Spot& spot) {
  return fmt::format("{}:{}:{}", file, spot.line, spot.column);
}

void SourceText::fail(std::size_t at, const std::string& sentence) const {
  throw UserError("{}: {}", place_words(file, spot(at)), sentence);
}

Expression parse_expression(SourceText source) {
  if (source.text.size() > kLongestExpression) {
    source.fail(0, fmt::format("an expression has at most {} letters", kLongestExpression));
  }
  Expression expression;
  ExpressionParser(source).parse(expression);
  expression.source = std::move(source);
  return expression;
}

bool is_name(std::string_view text) {
  return !text.empty() && begins_name(text.front()) && std::all_of(text.begin(), text.end(), continues_name) &&
         std::find(kWords.begin(), kWords.end(), text) == kWords.end();
}

}  // namespace cgpo
