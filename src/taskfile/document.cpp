#include "cgpo/taskfile/document.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/nesting.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

toml::table parse_toml(std::string_view text, const std::string& file) {
  if (text.size() > kLargestTaskFile) throw UserError("{}: a task file has at most {} bytes", file, kLargestTaskFile);
  if (const int line = line_too_deep(text)) {
    throw UserError("{}:{}:1: keys and lists are at most {} deep", file, line, kDeepestToml);
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const toml::source_position begin = error.source().begin;
    throw UserError("{}: not TOML: {}",
                    place_words(file, {static_cast<int>(begin.line), static_cast<int>(begin.column)}),
                    error.description());
  }
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }

// A TOML text in quotes, letter by letter: which place in the file each byte of its value has.
class QuotedText {
 public:
  // `at`: of the quote that opens it, which stands at `spot`.
  QuotedText(std::string_view text, std::size_t at, const Spot& spot) : text_(text), at_(at), spot_(spot) {}

  std::vector<Spot> spots() {
    const char quote = here();
    const bool is_long = text_.substr(at_, 3) == std::string(3, quote);
    const std::string end(is_long ? 3 : 1, quote);
    advance(end.size());
    if (is_long) skip_newline();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (quote == '"' && here() == '\\') {
        escape();
      } else {
        spots_.push_back(spot_);
        advance(1);
      }
    }
    spots_.push_back(spot_);
    return std::move(spots_);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void advance(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      if (text_[at_] == '\n') {
        ++spot_.line;
        spot_.column = 1;
      } else if (at_ + 1 >= text_.size() || begins_character(text_[at_ + 1])) {
        ++spot_.column;
      }
    }
  }
  void skip_newline() {
    if (here() == '\r') advance(1);
    if (here() == '\n') advance(1);
  }

  void escape() {
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kind == 'u' || kind == 'U') {
      const std::size_t digits = kind == 'u' ? 4 : 8;
      const std::string code(text_.substr(at_ + 2, digits));
      const unsigned long value = std::strtoul(code.c_str(), nullptr, 16);
      const std::size_t bytes = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
      spots_.insert(spots_.end(), bytes, spot_);
      advance(2 + digits);
    } else if (kind == '\n' || kind == '\r' || kind == ' ' || kind == '\t') {  // the line goes on
      advance(1);
      while (here() == '\n' || here() == '\r' || here() == ' ' || here() == '\t') advance(1);
    } else {
      spots_.push_back(spot_);
      advance(2);
    }
  }

  std::string_view text_;
  std::size_t at_;
  Spot spot_;
  std::vector<Spot> spots_;
};

std::string type_words(const toml::node& node) {
  if (node.is_string()) return "a text";
  if (node.is_number()) return "a number";
  if (node.is_boolean()) return "true or false";
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  return "a date";
}

}  // namespace

Document::Document(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)), root_(parse_toml(text, file_)) {
  lines_.push_back(0);
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    lines_.push_back(at + 1);
  }
}

Spot Document::spot_of(const toml::node& node) {
  const toml::source_position begin = node.source().begin;
  return {static_cast<int>(begin.line), static_cast<int>(begin.column)};
}

void Document::fail(const Spot& spot, const std::string& sentence) const {
  throw UserError("{}: {}", place_words(file_, spot), sentence);
}

std::size_t Document::offset_of(const Spot& spot) const {
  std::size_t at = lines_[std::min(static_cast<std::size_t>(std::max(spot.line - 1, 0)), lines_.size() - 1)];
  for (int column = 1; column < spot.column && at < text_.size(); ++column) {
    do ++at;
    while (at < text_.size() && !begins_character(text_[at]));
  }
  return at;
}

SourceText Document::source_of(const toml::node& node, const std::string& key) const {
  const Spot spot = spot_of(node);
  if (node.is_number()) {
    const double number = node.value<double>().value_or(0.0);
    // 1 / 3 written by a negative number, too, is one value.
    const std::string text = fmt::format("({})", number);
    return {file_, text, std::vector<Spot>(text.size() + 1, spot)};
  }
  const auto* const text = node.as_string();
  if (text == nullptr)
    fail(spot, fmt::format("{} is an expression in quotes, or a number, not {}", key, type_words(node)));
  SourceText source{file_, text->get(), QuotedText(text_, offset_of(spot), spot).spots()};
  // A value that was made in a way that we do not follow has one place for all of it.
  if (source.spots.size() != source.text.size() + 1) source.spots.assign(source.text.size() + 1, spot);
  return source;
}

TableReader::TableReader(const Document& document, const toml::table& table, std::string title,
                         const std::vector<std::string>& known)
    : document_(document), table_(table), title_(std::move(title)) {
  for (const auto& [key, node] : table) {
    const std::string word(key.str());
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    document.fail({static_cast<int>(key.source().begin.line), static_cast<int>(key.source().begin.column)},
                  fmt::format("there is no key '{}'{}{}; there are: {}", printable(word),
                              title_.empty() ? "" : fmt::format(" in {}", title_), did_you_mean(word, known),
                              fmt::join(known, ", ")));
  }
}

std::string TableReader::name(const char* key) const {
  return title_.empty() ? std::string(key) : fmt::format("{} of {}", key, title_);
}

Spot TableReader::spot(const char* key) const {
  const toml::node* const node = table_.get(key);
  return Document::spot_of(node != nullptr ? *node : static_cast<const toml::node&>(table_));
}

void TableReader::missing(const char* key, const std::string& what) const {
  const Spot here = Document::spot_of(table_);
  fail({std::max(here.line, 1), std::max(here.column, 1)}, fmt::format("{} is missing: {}", name(key), what));
}

std::string TableReader::text(const char* key, const std::string& otherwise) const {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return otherwise;
  const auto* const text = node->as_string();
  if (text == nullptr) fail(spot(key), fmt::format("{} is a text, not {}", name(key), type_words(*node)));
  return text->get();
}

bool TableReader::flag(const char* key, bool otherwise) const {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return otherwise;
  const auto* const flag = node->as_boolean();
  if (flag == nullptr) fail(spot(key), fmt::format("{} is true or false, not {}", name(key), type_words(*node)));
  return flag->get();
}

std::optional<double> TableReader::number(const char* key, double low, double high) const {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<double> number = node->is_number() ? node->value<double>() : std::nullopt;
  if (!number) fail(spot(key), fmt::format("{} is a number, not {}", name(key), type_words(*node)));
  if (!(*number >= low && *number <= high)) {
    fail(spot(key), fmt::format("{} must be between {} and {}, not {}", name(key), low, high, *number));
  }
  return number;
}

std::optional<int> TableReader::whole(const char* key, int low, int high) const {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  const auto* const integer = node->as_integer();
  if (integer == nullptr || integer->get() < low || integer->get() > high) {
    fail(spot(key), fmt::format("{} is a whole number from {} to {}", name(key), low, high));
  }
  return static_cast<int>(integer->get());
}

std::optional<Expression> TableReader::expression(const char* key) const {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  return parse_expression(document_.source_of(*node, name(key)));
}

Expression TableReader::needed_expression(const char* key) const {
  std::optional<Expression> found = expression(key);
  if (!found) missing(key, "an expression");
  return std::move(*found);
}

const toml::table* TableReader::table(const char* key) const {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) fail(spot(key), fmt::format("{} is a table, not {}", name(key), type_words(*node)));
  return node->as_table();
}

std::vector<const toml::table*> TableReader::tables(const char* key) const {
  std::vector<const toml::table*> found;
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return found;
  const toml::array* const array = node->as_array();
  if (array == nullptr)
    fail(spot(key), fmt::format("{} is a list of tables, [[…]], not {}", name(key), type_words(*node)));
  for (const toml::node& item : *array) {
    if (!item.is_table()) fail(Document::spot_of(item), fmt::format("{} is a list of tables, [[…]]", name(key)));
    found.push_back(item.as_table());
  }
  return found;
}

std::vector<NamedExpression> TableReader::expressions(const char* key) const {
  std::vector<NamedExpression> found;
  const toml::table* const inner = table(key);
  if (inner == nullptr) return found;
  for (const auto& [name, node] : *inner) {
    const std::string word(name.str());
    found.push_back({word, parse_expression(document_.source_of(node, word)), Document::spot_of(node)});
  }
  // A table has its keys in alphabetical order; what is drawn first is what is written first.
  std::sort(found.begin(), found.end(), [](const NamedExpression& a, const NamedExpression& b) {
    return std::pair(a.spot.line, a.spot.column) < std::pair(b.spot.line, b.spot.column);
  });
  return found;
}

}  // namespace cgpo
