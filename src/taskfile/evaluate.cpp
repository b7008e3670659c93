// From a tree to numbers of a graph.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/taskfile/functions.hpp"
#include "cgpo/taskfile/quantities.hpp"

namespace cgpo {
namespace {

std::string size_words(const Numbers& numbers) {
  return numbers.is_vector ? fmt::format("a vector of {}", numbers.size()) : "one number";
}

template <class Row, class Key>
const Row* find_row(std::span<const Row> rows, const Key& fits_row) {
  const auto found = std::find_if(rows.begin(), rows.end(), fits_row);
  return found == rows.end() ? nullptr : &*found;
}

const FunctionRow* find_function(std::string_view name) {
  return find_row(function_rows(), [name](const FunctionRow& row) { return row.name == name; });
}
const ThingRow* find_thing(std::string_view word) {
  return find_row(thing_rows(), [word](const ThingRow& row) { return row.word == word; });
}

class Evaluation {
 public:
  Evaluation(const SourceText& source, Moment& moment, int wanted)
      : source_(source), moment_(moment), wanted_(wanted) {}

  Numbers value(const Expression& expression) {
    const int wanted = std::exchange(wanted_, 1);
    for (const LocalName& local : expression.locals) {
      check_local(local);
      const Numbers named = value(local.value);
      locals_.emplace(local.name, named);
    }
    wanted_ = wanted;
    return value(expression.root);
  }

  Numbers value(const SyntaxNode& node) {
    Numbers result = read(node);
    moment_.work += result.size();
    if (result.size() > kMostNumbers) fail(node, fmt::format("a vector has at most {} entries", kMostNumbers));
    if (moment_.work > kMostWork) fail(node, "the expressions of this file make too many numbers");
    return result;
  }

 private:
  [[noreturn]] void fail(const SyntaxNode& node, const std::string& sentence) const { source_.fail(node.at, sentence); }

  Numbers read(const SyntaxNode& node) {
    switch (node.kind) {
      case NodeKind::kNumber: return Numbers::one(node.number);
      case NodeKind::kText: fail(node, "a text is only the name of something, as in body('torso')");
      case NodeKind::kName: return name(node);
      case NodeKind::kCall: return call(node);
      case NodeKind::kComparison: return comparison(node);
      case NodeKind::kVector: return vector(node);
      case NodeKind::kIndex: return index(node);
      case NodeKind::kSlice: return slice(node);
      case NodeKind::kMember: return member(node);
    }
    fail(node, "this cannot be evaluated");
  }

  // ---- names -------------------------------------------------------------------------------------------------------

  // A name has one meaning wherever it stands.
  void check_local(const LocalName& local) const {
    const Vocabulary& words = moment_.words();
    const bool taken = moment_.states.contains(local.name) || words.options.contains(local.name) ||
                       words.defined.contains(local.name) || words.drawn.contains(local.name) ||
                       find_function(local.name) != nullptr || find_thing(local.name) != nullptr ||
                       find_row(name_rows(), [&](const NameRow& row) { return row.name == local.name; }) != nullptr;
    if (taken) {
      source_.fail(local.at, fmt::format("'{}' means something already; choose another name", local.name));
    }
    if (locals_.contains(local.name)) {
      source_.fail(local.at, fmt::format("'{}' is there a second time", local.name));
    }
  }

  Numbers name(const SyntaxNode& node) {
    const Vocabulary& words = moment_.words();
    if (const auto local = locals_.find(node.word); local != locals_.end()) return local->second;
    if (const auto state = moment_.states.find(node.word); state != moment_.states.end()) return state->second;
    if (const auto option = words.options.find(node.word); option != words.options.end()) {
      return Numbers::one(option->second);
    }
    if (words.defined.contains(node.word)) return defined(node);
    if (words.drawn.contains(node.word)) {
      if (moment_.draws != nullptr)
        fail(node, fmt::format("{} is not drawn yet: [draws] are, from first to last", node.word));
      fail(node, fmt::format("{} is drawn for a start, for [reset] and [states]; it has no meaning {}", node.word,
                             moment_.where()));
    }
    if (outer_ != nullptr && outer_->contains(node.word)) {
      fail(node, fmt::format("{} has its value already; put before(…) where it gets it", node.word));
    }
    const NameRow* const row = find_row(name_rows(), [&](const NameRow& r) { return r.name == node.word; });
    if (row != nullptr && (words.robot != nullptr || !row->of_robot)) {
      std::optional<Numbers> numbers = row->read(moment_);
      if (!numbers) fail(node, fmt::format("{} is not known{}", node.word, why_not()));
      return *numbers;
    }
    if (row != nullptr) fail(node, fmt::format("{} is of a robot, and this task has none", node.word));
    if (find_thing(node.word) != nullptr) {
      fail(node, fmt::format("{} has members, as in {}", node.word, example_of(node.word)));
    }
    if (const FunctionRow* const function = find_function(node.word)) {
      fail(node, fmt::format("{} is a function: {}", node.word, function->usage));
    }
    fail(node, fmt::format("there is no '{}'{}; names are those of [options], [states] and [define], and: {}",
                           node.word, did_you_mean(node.word, all_names()), fmt::join(builtin_names(), ", ")));
  }

  std::string why_not() const {
    return moment_.unknown_because.empty() ? " " + moment_.where() : ": " + moment_.unknown_because;
  }

  static std::string example_of(std::string_view word) {
    const ThingRow* const thing = find_thing(word);
    return thing->named ? fmt::format("{}('NAME').position", word) : fmt::format("{}.position", word);
  }

  std::vector<std::string> builtin_names() const {
    std::vector<std::string> names;
    for (const NameRow& row : name_rows()) {
      if (moment_.words().robot != nullptr || !row.of_robot) names.emplace_back(row.name);
    }
    return names;
  }
  std::vector<std::string> all_names() const {
    std::vector<std::string> names = builtin_names();
    for (const auto& [state, ignored] : moment_.states) names.push_back(state);
    for (const auto& [option, ignored] : moment_.words().options) names.push_back(option);
    for (const auto& [definition, ignored] : moment_.words().defined) names.push_back(definition);
    for (const auto& [local, ignored] : locals_) names.push_back(local);
    for (const FunctionRow& row : function_rows()) names.emplace_back(row.name);
    for (const ThingRow& row : thing_rows()) names.emplace_back(row.word);
    return names;
  }

  // Once a moment, however often it is used.
  Numbers defined(const SyntaxNode& node) {
    if (const auto known = moment_.known.find(node.word); known != moment_.known.end()) return known->second;
    if (!moment_.open.insert(node.word).second) fail(node, fmt::format("{} is defined by itself", node.word));
    if (moment_.open.size() > kDeepestExpression) fail(node, "definitions need each other too many times");
    const Expression& expression = moment_.words().defined.at(node.word);
    Numbers result = Evaluation(expression.source, moment_, 1).value(expression);
    moment_.open.erase(node.word);
    // What is drawn is drawn anew each time.
    if (moment_.draws == nullptr) moment_.known[node.word] = result;
    return result;
  }

  // ---- calls -------------------------------------------------------------------------------------------------------

  Numbers call(const SyntaxNode& node) {
    const OperatorRow* const sign =
        find_row(operator_rows(), [&](const OperatorRow& r) { return r.sign == node.word; });
    if (sign != nullptr) return sign->apply(evaluated(node));
    if (node.word == "^") return power(node);
    if (const ThingRow* const thing = find_thing(node.word)) {
      fail(node, fmt::format("{} has members, as in {}", thing->word, example_of(thing->word)));
    }
    const FunctionRow* const function = find_function(node.word);
    if (function == nullptr) {
      std::vector<std::string> names;
      for (const FunctionRow& row : function_rows()) names.emplace_back(row.name);
      for (const ThingRow& row : thing_rows()) names.emplace_back(row.word);
      fail(node, fmt::format("there is no function '{}'{}; there are: {}", node.word, did_you_mean(node.word, names),
                             fmt::join(names, ", ")));
    }
    const auto count = static_cast<int>(node.inner.size());
    if (count < function->least || count > function->most) {
      fail(node,
           fmt::format("{} takes {}, not {} argument{}", node.word, function->usage, count, count == 1 ? "" : "s"));
    }
    switch (function->form) {
      case FunctionForm::kPlain: return function->apply(evaluated(node));
      case FunctionForm::kBefore: return before(node);
      case FunctionForm::kNext: return next(node);
      case FunctionForm::kUniform: return draw(node, /*normal=*/false);
      case FunctionForm::kNormal: return draw(node, /*normal=*/true);
    }
    fail(node, "this function cannot be called");
  }

  FunctionCall evaluated(const SyntaxNode& node) {
    FunctionCall call{source_, node, {}};
    for (const SyntaxNode& inner : node.inner) call.arguments.push_back(value(inner));
    return call;
  }

  Numbers power(const SyntaxNode& node) {
    const SyntaxNode& exponent = node.inner[1];
    const bool negative = exponent.kind == NodeKind::kCall && exponent.word == "neg";
    const SyntaxNode& number = negative ? exponent.inner[0] : exponent;
    if (number.kind != NodeKind::kNumber) {
      fail(node, "the power behind ^ is a number that stands there; other powers of a positive x are exp(p * log(x))");
    }
    FunctionCall call{source_, node, {value(node.inner[0])}};
    return cgpo::power(call, negative ? -number.number : number.number);
  }

  Numbers comparison(const SyntaxNode& node) {
    FunctionCall call = evaluated(node);
    std::vector<Numbers> sides = std::move(call.arguments);
    std::optional<Numbers> result;
    for (std::size_t i = 0; i < node.signs.size(); ++i) {
      call.arguments = {sides[i], sides[i + 1]};
      Numbers holds = compare_numbers(call, node.signs[i]);
      if (result) {
        call.arguments = {*result, holds};
        holds = find_row(operator_rows(), [](const OperatorRow& r) { return r.sign == "and"; })->apply(call);
      }
      result = std::move(holds);
    }
    return *result;
  }

  Numbers before(const SyntaxNode& node) {
    if (moment_.before == nullptr) fail(node, fmt::format("before(…) has no meaning {}", moment_.where()));
    Evaluation earlier(source_, *moment_.before, 1);
    earlier.outer_ = &locals_;
    Numbers result = earlier.value(node.inner[0]);
    moment_.work = std::max(moment_.work, moment_.before->work);
    return result;
  }

  Numbers next(const SyntaxNode& node) {
    if (!moment_.next) fail(node, fmt::format("next(…) has no meaning {}", moment_.where()));
    const SyntaxNode& state = node.inner[0];
    if (state.kind != NodeKind::kName || !moment_.states.contains(state.word)) {
      fail(state, "next(…) takes the name of a state");
    }
    if (!moment_.open.insert("next " + state.word).second) {
      fail(node, fmt::format("the next {} needs itself", state.word));
    }
    Numbers result = moment_.next(state.word);
    moment_.open.erase("next " + state.word);
    return result;
  }

  // As many numbers as the third argument says, as the bounds have, or as are wanted.
  Numbers draw(const SyntaxNode& node, bool normal) {
    if (moment_.draws == nullptr) {
      fail(node, fmt::format("{} draws for a start, in [reset] and [states]; it has no meaning {}", node.word,
                             moment_.where()));
    }
    int size = wanted_;
    bool is_vector = wanted_ > 1;
    if (node.inner.size() == 3) {
      const SyntaxNode& given = node.inner[2];
      const double number = given.kind == NodeKind::kNumber ? given.number : 0.0;
      if (!(number >= 1.0 && number <= kMostNumbers)) {
        fail(given, fmt::format("how many are drawn is a number from 1 to {}", kMostNumbers));
      }
      size = static_cast<int>(number);
      is_vector = true;
    }
    Numbers first = value(node.inner[0]);
    Numbers second = value(node.inner[1]);
    for (const Numbers* bound : {&first, &second}) {
      if (!bound->is_vector) continue;
      if (node.inner.size() == 3 && bound->size() != size) {
        fail(node, fmt::format("{} is to draw {} numbers, and a bound is {}", node.word, size, size_words(*bound)));
      }
      size = bound->size();
      is_vector = true;
    }
    Numbers result;
    result.is_vector = is_vector;
    for (int i = 0; i < size; ++i) {
      const auto entry = [i, &node, this](const Numbers& numbers) -> const Traced& {
        if (numbers.is_vector && i >= numbers.size()) fail(node, "the two bounds have different lengths");
        return numbers.at[numbers.is_vector ? static_cast<std::size_t>(i) : 0];
      };
      const Traced& a = entry(first);
      const Traced& b = entry(second);
      const Traced drawn = moment_.draws->draw(normal);
      result.at.push_back(normal ? a + b * drawn : a + (b - a) * drawn);
    }
    return result;
  }

  // ---- vectors -----------------------------------------------------------------------------------------------------

  Numbers vector(const SyntaxNode& node) {
    if (node.inner.empty()) fail(node, "a vector has at least one entry");
    Numbers result = Numbers::several({});
    const int wanted = std::exchange(wanted_, 1);
    for (const SyntaxNode& inner : node.inner) {
      const Numbers entries = value(inner);
      result.at.insert(result.at.end(), entries.at.begin(), entries.at.end());
      if (result.size() > kMostNumbers) fail(node, fmt::format("a vector has at most {} entries", kMostNumbers));
    }
    wanted_ = wanted;
    return result;
  }

  Numbers index(const SyntaxNode& node) {
    const Numbers numbers = vector_behind(node);
    const int at = node.first < 0 ? numbers.size() + node.first : node.first;
    if (at < 0 || at >= numbers.size()) {
      fail(node, fmt::format("[{}] is not in a vector of {}, whose entries are 0 to {}", node.first, numbers.size(),
                             numbers.size() - 1));
    }
    return Numbers::one(numbers.at[static_cast<std::size_t>(at)]);
  }

  Numbers slice(const SyntaxNode& node) {
    const Numbers numbers = vector_behind(node);
    const auto from_start = [&](int at) { return at < 0 ? numbers.size() + at : at; };
    const int first = from_start(node.first);
    const int last = node.has_last ? from_start(node.last) : numbers.size();
    if (first < 0 || first >= last || last > numbers.size()) {
      fail(node, fmt::format("the slice from {} to before {} has no entry, or some that a vector of {} has not", first,
                             last, numbers.size()));
    }
    return Numbers::several({numbers.at.begin() + first, numbers.at.begin() + last});
  }

  Numbers vector_behind(const SyntaxNode& node) {
    Numbers numbers = value(node.inner[0]);
    if (!numbers.is_vector) fail(node, "one number has no entries to take");
    return numbers;
  }

  Numbers member(const SyntaxNode& node) {
    const SyntaxNode& of = node.inner[0];
    const ThingRow* const thing =
        of.kind == NodeKind::kCall || of.kind == NodeKind::kName ? find_thing(of.word) : nullptr;
    if (thing != nullptr && (of.kind == NodeKind::kCall || !thing->named)) return member_of(*thing, of, node);
    static constexpr std::string_view kLetters = "xyz";
    const Numbers numbers = value(of);
    const std::size_t at = node.word.size() == 1 ? kLetters.find(node.word[0]) : std::string_view::npos;
    if (!numbers.is_vector || numbers.size() > 3 || at >= numbers.at.size()) {
      fail(node, fmt::format("there is no '.{}' here: {} has {}", node.word, size_words(numbers),
                             !numbers.is_vector || numbers.size() > 3
                                 ? "no members; entries of a longer vector are taken as v[0]"
                                 : std::string(numbers.size() == 3   ? ".x, .y and .z"
                                               : numbers.size() == 2 ? ".x and .y"
                                                                     : ".x")));
    }
    return Numbers::one(numbers.at[at]);
  }

  Numbers member_of(const ThingRow& thing, const SyntaxNode& of, const SyntaxNode& node) {
    if (moment_.words().robot == nullptr) fail(of, fmt::format("{} is of a robot, and this task has none", thing.word));
    std::vector<std::string> members;
    const MemberRow* found = nullptr;
    for (const MemberRow& row : member_rows()) {
      if (row.kind != thing.kind) continue;
      members.emplace_back(row.member);
      if (row.member == node.word) found = &row;
    }
    if (found == nullptr) {
      fail(node, fmt::format("{} has no '{}'{}; it has: {}", thing.word, node.word, did_you_mean(node.word, members),
                             fmt::join(members, ", ")));
    }
    const std::vector<int> ids = find_named(thing, of);
    Numbers all;
    for (const int id : ids) {
      const std::optional<Numbers> part = found->read(moment_, id);
      if (!part) fail(node, fmt::format("{} of {} is not known{}", node.word, thing.word, why_not()));
      all.is_vector = all.is_vector || part->is_vector;
      all.at.insert(all.at.end(), part->at.begin(), part->at.end());
    }
    all.is_vector = all.is_vector || (!of.inner.empty() && is_pattern(of.inner[0].word));
    return all;
  }

  // All that the text in brackets names: one, or those that fit a pattern, in the order of the model.
  std::vector<int> find_named(const ThingRow& thing, const SyntaxNode& of) const {
    if (!thing.named) return {0};
    if (of.inner.size() != 1 || of.inner[0].kind != NodeKind::kText) {
      fail(of, fmt::format("{} takes a name in quotes, as in {}", thing.word, example_of(thing.word)));
    }
    const std::string& wanted = of.inner[0].word;
    const std::vector<std::string> names = thing.names(moment_.model());
    std::vector<int> ids;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) continue;
      known.push_back(names[i]);
      if (names[i] == wanted || (is_pattern(wanted) && fits(wanted, names[i]))) ids.push_back(static_cast<int>(i));
    }
    if (ids.empty() && known.empty()) {
      fail(of.inner[0], fmt::format("the robot has no {} with a name", thing.word));
    }
    if (ids.empty()) {
      fail(of.inner[0],
           fmt::format("the robot has no {} {} '{}'{}; it has: {}", thing.word, is_pattern(wanted) ? "like" : "named",
                       wanted, did_you_mean(wanted, known), fmt::join(known, ", ")));
    }
    return ids;
  }

  const SourceText& source_;
  Moment& moment_;
  int wanted_;
  std::map<std::string, Numbers> locals_;
  const std::map<std::string, Numbers>* outer_ = nullptr;  // of what asks for the moment before
};

}  // namespace

const Kinematics<Traced>& Moment::kinematics(DofAxes axes) {
  std::optional<Kinematics<Traced>>& kept = axes == DofAxes::kTree ? tree_ : mujoco_;
  if (!kept) kept = forward_kinematics(model(), TracedSpan(q), TracedSpan(v), axes);
  return *kept;
}

Numbers evaluate(const Expression& expression, Moment& moment, int wanted) {
  return Evaluation(expression.source, moment, wanted).value(expression);
}

Traced evaluate_one(const Expression& expression, Moment& moment, const std::string& what) {
  const Numbers numbers = evaluate(expression, moment);
  if (numbers.is_vector) {
    expression.source.fail(
        0, fmt::format("{} is one number, not {}; sum(…), norm(…) or [0] make one of them", what, size_words(numbers)));
  }
  return numbers.at[0];
}

std::vector<Traced> evaluate_several(const Expression& expression, Moment& moment, int size, const std::string& what) {
  Numbers numbers = evaluate(expression, moment, size);
  if (!numbers.is_vector) numbers.at.resize(static_cast<std::size_t>(size), numbers.at[0]);
  if (numbers.size() != size) {
    expression.source.fail(
        0, fmt::format("{} takes {} number{}, not {}", what, size, size == 1 ? "" : "s", size_words(numbers)));
  }
  return numbers.at;
}

}  // namespace cgpo
