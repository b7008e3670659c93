#include "cgpo/kernel/x86/vector_program.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/math/primitives.hpp"

namespace cgpo {
namespace {

// True exactly where the predicate is false.
Predicate negated(Predicate predicate) {
  switch (predicate) {
    case Predicate::kEqual: return Predicate::kNotEqual;
    case Predicate::kNotEqual: return Predicate::kEqual;
    case Predicate::kLess: return Predicate::kNotLess;
    case Predicate::kNotLess: return Predicate::kLess;
    case Predicate::kLessEqual: return Predicate::kNotLessEqual;
    case Predicate::kNotLessEqual: return Predicate::kLessEqual;
    case Predicate::kGreater: return Predicate::kNotGreater;
    case Predicate::kNotGreater: return Predicate::kGreater;
    case Predicate::kGreaterEqual: return Predicate::kNotGreaterEqual;
    case Predicate::kNotGreaterEqual: return Predicate::kGreaterEqual;
  }
  throw std::logic_error("a predicate without a negation");
}

template <class Real>
class Translator {
  using Format = elementary::primitive::Format<Real>;
  using Bits = typename Format::Bits;
  static constexpr Bits kSign = Bits{1} << (8 * sizeof(Real) - 1);
  static constexpr Real kIntegers = static_cast<Real>(Bits{1} << Format::kFraction);  // from here on numbers are whole

 public:
  Translator(const Graph& graph, Isa isa)
      : graph_(graph), mask_registers_(isa == Isa::kAvx512), value_(graph.nodes().size(), -1) {}

  VectorProgram run() {
    for (const TablePointer& table : graph_.tables()) {
      auto& bits = program_.tables.emplace_back();
      for (const double element : *table) bits.push_back(bits_of(static_cast<Real>(element)));
    }
    look_at_uses();
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) value_[i] = translate(static_cast<NodeId>(i));
    for (std::size_t o = 0; o < graph_.outputs().size(); ++o) {
      program_.values[index(value(graph_.outputs()[o]))].outputs.push_back(static_cast<int>(o));
    }
    link_uses();
    sort_constants();
    return std::move(program_);
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static Bits bits_of(Real value) { return elementary::primitive::bits_of(value); }
  static bool is_comparison(Op op) { return op == Op::kLess || op == Op::kLessEqual || op == Op::kEqual; }

  // A comparison whose uses are all conditions of selects stays a mask and never becomes 1 or 0. An instruction can
  // read a select's first choice from memory, where constants are, but not its second: a comparison that would have
  // every select read a constant second is made the other way round.
  void look_at_uses() {
    needs_number_.assign(graph_.nodes().size(), false);
    inverted_.assign(graph_.nodes().size(), true);
    for (const Node& node : graph_.nodes()) {
      const NodeId operands[] = {node.a, node.b, node.c};
      for (int k = node.op == Op::kSelect ? 1 : 0; k < arity(node.op); ++k) needs_number_[index(operands[k])] = true;
      if (node.op == Op::kSelect && !reads_better_inverted(node)) inverted_[index(node.a)] = false;
    }
    for (const NodeId output : graph_.outputs()) needs_number_[index(output)] = true;
    for (std::size_t i = 0; i < inverted_.size(); ++i) {
      inverted_[i] = inverted_[i] && is_comparison(graph_.nodes()[i].op) && !needs_number_[i];
    }
  }

  bool reads_better_inverted(const Node& select) const {
    if (graph_.is_constant(select.c, 0.0)) return false;
    return graph_.is_constant(select.b, 0.0) || (graph_.is_constant(select.c) && !graph_.is_constant(select.b));
  }

  int value(NodeId node) const { return value_[index(node)]; }

  int add_value(VectorValue::Kind kind, int number) {
    program_.values.push_back({.kind = kind, .index = number, .outputs = {}});
    return static_cast<int>(program_.values.size()) - 1;
  }

  int constant(Bits bits) {
    const auto [found, fresh] = constants_.try_emplace(bits, 0);
    if (fresh) {
      found->second = add_value(VectorValue::Kind::kConstant, static_cast<int>(program_.constants.size()));
      program_.constants.push_back(bits);
    }
    return found->second;
  }
  int number(Real value) { return constant(bits_of(value)); }

  int step(VectorCode code, std::initializer_list<int> sources, int detail = 0) {
    VectorStep& made = program_.steps.emplace_back();
    made.code = code;
    made.detail = detail;
    for (const int source : sources) made.source[made.sources++] = source;
    made.result = add_value(VectorValue::Kind::kResult, 0);
    return made.result;
  }

  int compare(Predicate predicate, int a, int b) {
    const int mask = step(VectorCode::kCompare, {a, b}, static_cast<int>(predicate));
    program_.values[index(mask)].in_mask_register = mask_registers_;
    return mask;
  }

  int comparison(NodeId id, const Node& node) {
    const Predicate predicate = node.op == Op::kLess        ? Predicate::kLess
                                : node.op == Op::kLessEqual ? Predicate::kLessEqual
                                                            : Predicate::kEqual;
    const bool invert = inverted_[index(id)];
    const int mask = compare(invert ? negated(predicate) : predicate, value(node.a), value(node.b));
    masks_[id] = mask;
    return needs_number_[index(id)] ? step(VectorCode::kBlendZero, {mask, number(Real(1))}) : mask;
  }

  int condition(NodeId id) {
    const auto [found, fresh] = masks_.try_emplace(id, 0);
    if (fresh) found->second = compare(Predicate::kNotEqual, value(id), number(Real(0)));
    return found->second;
  }

  int select(const Node& node) {
    const int mask = condition(node.a);
    const bool invert = inverted_[index(node.a)];
    const NodeId yes = invert ? node.c : node.b;
    const NodeId no = invert ? node.b : node.c;
    if (graph_.is_constant(no, 0.0)) return step(VectorCode::kBlendZero, {mask, value(yes)});
    if (!mask_registers_ && graph_.is_constant(yes, 0.0)) return step(VectorCode::kAndNot, {mask, value(no)});
    return step(VectorCode::kBlend, {mask, value(yes), value(no)});
  }

  int copy_sign(int magnitude, int sign) {
    if (mask_registers_) return step(VectorCode::kMergeBits, {magnitude, sign, constant(kSign)});
    const int positive = step(VectorCode::kAnd, {magnitude, constant(kSign - 1)});
    return step(VectorCode::kOr, {positive, step(VectorCode::kAnd, {sign, constant(kSign)})});
  }

  // Bit for bit what primitives.hpp does; see there for why it works.
  int power_of_two(int n) {
    const int sum = step(VectorCode::kAdd, {n, number(Format::kShifter + static_cast<Real>(Format::kBias))});
    return step(VectorCode::kShiftLeft, {sum}, Format::kFraction);
  }
  int exponent(int x) {
    const int field = step(VectorCode::kShiftRight, {x}, Format::kFraction);
    const int sum = step(VectorCode::kOr, {field, number(kIntegers)});
    return step(VectorCode::kSub, {sum, number(kIntegers + static_cast<Real>(Format::kBias))});
  }
  int mantissa(int x) {
    const int fraction = step(VectorCode::kAnd, {x, constant((Bits{1} << Format::kFraction) - 1)});
    return step(VectorCode::kOr, {fraction, number(Real(1))});
  }

  // Tables of one size are looked up with one index.
  int table_index(NodeId number_of_element, std::size_t table_size) {
    const auto [found, fresh] = indices_.try_emplace({number_of_element, table_size}, 0);
    if (fresh) {
      const int above = step(VectorCode::kMax, {value(number_of_element), number(Real(0))});  // NaN too becomes 0
      const int inside = step(VectorCode::kMin, {above, number(static_cast<Real>(table_size - 1))});
      found->second = step(VectorCode::kToIndex, {inside});
    }
    return found->second;
  }
  int lookup(const Node& node) {
    return step(VectorCode::kGather, {table_index(node.a, program_.tables[index(node.b)].size())}, node.b);
  }

  int translate(NodeId id) {
    const Node& node = graph_.node(id);
    const auto unary = [&](VectorCode code) { return step(code, {value(node.a)}); };
    const auto binary = [&](VectorCode code) { return step(code, {value(node.a), value(node.b)}); };
    const auto ternary = [&](VectorCode code) { return step(code, {value(node.a), value(node.b), value(node.c)}); };
    switch (node.op) {
      case Op::kConstant: return number(static_cast<Real>(node.value));
      case Op::kInput: return add_value(VectorValue::Kind::kInput, node.a);
      case Op::kAdd: return binary(VectorCode::kAdd);
      case Op::kSub: return binary(VectorCode::kSub);
      case Op::kMul: return binary(VectorCode::kMul);
      case Op::kDiv: return binary(VectorCode::kDiv);
      case Op::kMin: return binary(VectorCode::kMin);
      case Op::kMax: return binary(VectorCode::kMax);
      case Op::kFma: return ternary(VectorCode::kFma);
      case Op::kFms: return ternary(VectorCode::kFms);
      case Op::kFnma: return ternary(VectorCode::kFnma);
      case Op::kSqrt: return unary(VectorCode::kSqrt);
      case Op::kFloor: return unary(VectorCode::kFloor);
      case Op::kRoundEven: return unary(VectorCode::kRoundEven);
      case Op::kNeg: return step(VectorCode::kXor, {value(node.a), constant(kSign)});
      case Op::kAbs: return step(VectorCode::kAnd, {value(node.a), constant(kSign - 1)});
      case Op::kReciprocal: return step(VectorCode::kDiv, {number(Real(1)), value(node.a)});
      case Op::kRsqrt: return step(VectorCode::kDiv, {number(Real(1)), unary(VectorCode::kSqrt)});
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kEqual: return comparison(id, node);
      case Op::kSelect: return select(node);
      case Op::kCopysign: return copy_sign(value(node.a), value(node.b));
      case Op::kPow2i: return power_of_two(value(node.a));
      case Op::kExponent: return exponent(value(node.a));
      case Op::kMantissa: return mantissa(value(node.a));
      case Op::kLookup: return lookup(node);
      case Op::kSolved:
#define CGPO_TRANSCENDENTAL(id, ...) case Op::id:
#define CGPO_OTHER(id)  // above
#include "cgpo/graph/operations.def"
        break;
    }
    check(false, "a lowered graph holds nothing else");
    return -1;
  }

  // Drops steps without a use and notes, for every use, when the next one is.
  void link_uses() {
    std::vector<VectorStep> alive;
    std::vector<bool> needed(program_.values.size(), false);
    for (std::size_t v = 0; v < needed.size(); ++v) needed[v] = !program_.values[v].outputs.empty();
    for (auto step = program_.steps.rbegin(); step != program_.steps.rend(); ++step) {
      if (!needed[index(step->result)]) continue;
      for (int k = 0; k < step->sources; ++k) needed[index(step->source[k])] = true;
      alive.push_back(*step);
    }
    std::reverse(alive.begin(), alive.end());
    for (int i = static_cast<int>(alive.size()) - 1; i >= 0; --i) {
      VectorStep& step = alive[index(i)];
      for (int k = 0; k < step.sources; ++k) step.next_use[k] = program_.values[index(step.source[k])].first_use;
      for (int k = 0; k < step.sources; ++k) program_.values[index(step.source[k])].first_use = i;
    }
    program_.steps = std::move(alive);
  }

  // Those used most stand first: the nearest have shorter addresses.
  void sort_constants() {
    std::vector<int> uses(program_.constants.size(), 0);
    for (const VectorStep& step : program_.steps) {
      for (int k = 0; k < step.sources; ++k) {
        const VectorValue& value = program_.values[index(step.source[k])];
        if (value.kind == VectorValue::Kind::kConstant) ++uses[index(value.index)];
      }
    }
    std::vector<int> order(uses.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return uses[index(a)] > uses[index(b)]; });
    std::vector<int> place(order.size());
    std::vector<std::uint64_t> sorted;
    for (const int old : order) {
      place[index(old)] = static_cast<int>(sorted.size());
      sorted.push_back(program_.constants[index(old)]);
    }
    program_.constants = std::move(sorted);
    for (VectorValue& value : program_.values) {
      if (value.kind == VectorValue::Kind::kConstant) value.index = place[index(value.index)];
    }
  }

  const Graph& graph_;
  bool mask_registers_;
  VectorProgram program_;
  std::vector<int> value_;  // of a node: the number, or the mask if nothing needs the number
  std::vector<bool> needs_number_;
  std::vector<bool> inverted_;  // of a comparison: its mask is true where it is false
  std::unordered_map<Bits, int> constants_;
  std::unordered_map<NodeId, int> masks_;
  std::map<std::pair<NodeId, std::size_t>, int> indices_;
};

}  // namespace

Predicate with_swapped_operands(Predicate predicate) {
  switch (predicate) {
    case Predicate::kLess: return Predicate::kGreater;
    case Predicate::kLessEqual: return Predicate::kGreaterEqual;
    case Predicate::kGreater: return Predicate::kLess;
    case Predicate::kGreaterEqual: return Predicate::kLessEqual;
    case Predicate::kNotLess: return Predicate::kNotGreater;
    case Predicate::kNotLessEqual: return Predicate::kNotGreaterEqual;
    case Predicate::kNotGreater: return Predicate::kNotLess;
    case Predicate::kNotGreaterEqual: return Predicate::kNotLessEqual;
    case Predicate::kEqual:
    case Predicate::kNotEqual: return predicate;
  }
  throw std::logic_error("a predicate without its mirror image");
}

VectorProgram make_vector_program(const Graph& lowered, Isa isa) {
  check(lowered.precision() != Precision::kExact && lowered.solves().empty(), "machine code is made of lowered graphs");
  if (lowered.precision() == Precision::kFloat) return Translator<float>(lowered, isa).run();
  return Translator<double>(lowered, isa).run();
}

}  // namespace cgpo
