#include "cgpo/graph/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/fold.hpp"

namespace cgpo {

void GraphPlace::tell(GraphPlace* here) noexcept {
  if (shared_ != nullptr) *shared_ = static_cast<Graph*>(here);
}

// What an assignment overwrites is gone for its values.
GraphPlace& GraphPlace::operator=(const GraphPlace& other) {
  if (this == &other) return *this;
  tell(nullptr);
  shared_.reset();
  return *this;
}

GraphPlace& GraphPlace::operator=(GraphPlace&& other) noexcept {
  if (this == &other) return *this;
  tell(nullptr);
  shared_ = std::move(other.shared_);
  tell(this);
  return *this;
}

const GraphPlace::Shared& GraphPlace::place() {
  if (shared_ == nullptr) shared_ = std::make_shared<Graph*>(static_cast<Graph*>(this));
  return shared_;
}

bool Node::operator==(const Node& other) const {
  return op == other.op && a == other.a && b == other.b && c == other.c &&
         std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
}

std::size_t Graph::NodeHash::operator()(const Node& node) const {
  std::uint64_t hash = std::bit_cast<std::uint64_t>(node.value);
  for (const std::int32_t part : {static_cast<std::int32_t>(node.op), node.a, node.b, node.c}) {
    hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

NodeId Graph::intern(const Node& node) {
  const auto [found, inserted] = known_.try_emplace(node, static_cast<NodeId>(nodes_.size()));
  if (inserted) nodes_.push_back(node);
  return found->second;
}

NodeId Graph::add_input() {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.op = Op::kInput, .a = static_cast<NodeId>(inputs_.size())});
  inputs_.push_back(id);
  return id;
}

NodeId Graph::add_constant(double value) {
  if (precision_ == Precision::kFloat) value = static_cast<float>(value);
  return intern({.op = Op::kConstant, .value = value});
}

bool Graph::is_constant(NodeId id, double value) const {
  return is_constant(id) && std::bit_cast<std::uint64_t>(node(id).value) == std::bit_cast<std::uint64_t>(value);
}

NodeId Graph::add_lookup(const TablePointer& table, NodeId index) {
  auto found = std::find(tables_.begin(), tables_.end(), table);
  if (found == tables_.end()) found = tables_.insert(tables_.end(), table);
  return intern({.op = Op::kLookup, .a = index, .b = static_cast<NodeId>(found - tables_.begin())});
}

int Graph::add_factor(FactorRecord factor) {
  factors_.push_back(std::move(factor));
  return static_cast<int>(factors_.size()) - 1;
}

NodeId Graph::add_solve(int factor, std::vector<NodeId> rhs, std::span<const NodeId> values) {
  const auto first = static_cast<NodeId>(nodes_.size());
  const auto index = static_cast<NodeId>(solves_.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    nodes_.push_back({.op = Op::kSolved, .a = values[i], .b = index, .c = static_cast<NodeId>(i)});
  }
  solves_.push_back({factor, std::move(rhs), first});
  return first;
}

NodeId Graph::add(Op op, NodeId a, NodeId b, NodeId c) {
  check(op_info(op).kind != OpKind::kRecord, "this node has a maker of its own");
  if (is_transcendental(op) && precision_ != Precision::kExact)
    check(false, "a lowered graph holds no transcendentals");
  const int operands = arity(op);
  const bool constant = is_constant(a) && (operands < 2 || is_constant(b)) && (operands < 3 || is_constant(c));
  if (constant) {
    const double value =
        fold(op, node(a).value, operands > 1 ? node(b).value : 0.0, operands > 2 ? node(c).value : 0.0, precision_);
    return add_constant(value);
  }
  if (const NodeId simpler = simplify(op, a, b, c); simpler != kNoNode) return simpler;
  // One spelling for what does not depend on the order.
  if (op_info(op).order == OpInfo::Order::kFree && a > b) std::swap(a, b);
  return intern({.op = op, .a = a, .b = b, .c = c});
}

// Rewrites that keep every bit of every result (but the sign and payload of a NaN). Each returns a simpler node for the
// operation, or none.
namespace {

// What −x is the negative of.
NodeId negated(const Graph& graph, NodeId id) { return graph.node(id).op == Op::kNeg ? graph.node(id).a : kNoNode; }

NodeId simplify_sum(Graph& graph, NodeId a, NodeId b) {
  if (graph.is_constant(a, -0.0)) return b;
  if (graph.is_constant(b, -0.0)) return a;
  if (const NodeId x = negated(graph, b); x != kNoNode) return graph.add(Op::kSub, a, x);
  if (const NodeId x = negated(graph, a); x != kNoNode) return graph.add(Op::kSub, b, x);
  return kNoNode;
}

NodeId simplify_difference(Graph& graph, NodeId a, NodeId b) {
  if (graph.is_constant(b, 0.0)) return a;
  if (graph.is_constant(a, -0.0)) return graph.add(Op::kNeg, b);
  if (const NodeId x = negated(graph, b); x != kNoNode) return graph.add(Op::kAdd, a, x);
  return kNoNode;
}

NodeId simplify_product(Graph& graph, NodeId a, NodeId b) {
  if (graph.is_constant(a)) std::swap(a, b);
  if (graph.is_constant(b, 1.0)) return a;
  if (graph.is_constant(b, -1.0)) return graph.add(Op::kNeg, a);
  // Signs move outwards, where an addition takes them up.
  const NodeId minus_a = negated(graph, a);
  const NodeId minus_b = negated(graph, b);
  if (minus_a != kNoNode && minus_b != kNoNode) return graph.add(Op::kMul, minus_a, minus_b);
  if (minus_a != kNoNode && graph.is_constant(b)) {
    return graph.add(Op::kMul, minus_a, graph.add_constant(-graph.node(b).value));
  }
  if (minus_a != kNoNode) return graph.add(Op::kNeg, graph.add(Op::kMul, minus_a, b));
  if (minus_b != kNoNode) return graph.add(Op::kNeg, graph.add(Op::kMul, a, minus_b));
  return kNoNode;
}

NodeId simplify_quotient(Graph& graph, NodeId a, NodeId b) {
  if (graph.is_constant(b, 1.0)) return a;
  if (graph.is_constant(b, -1.0)) return graph.add(Op::kNeg, a);
  if (graph.is_constant(a, 1.0)) return graph.add(Op::kReciprocal, b);
  if (!graph.is_constant(b)) return kNoNode;
  // By a power of two: the reciprocal is exact, unless it leaves the range of floats.
  const double divisor = graph.node(b).value;
  int exponent = 0;
  if (std::abs(std::frexp(divisor, &exponent)) != 0.5 || std::abs(exponent) >= 120) return kNoNode;
  return graph.add(Op::kMul, a, graph.add_constant(1.0 / divisor));
}

NodeId simplify_abs(Graph& graph, NodeId a) {
  if (graph.node(a).op == Op::kAbs) return a;
  if (const NodeId x = negated(graph, a); x != kNoNode) return graph.add(Op::kAbs, x);
  return kNoNode;
}

NodeId simplify_select(const Graph& graph, NodeId a, NodeId b, NodeId c) {
  if (b == c) return b;
  if (graph.is_constant(a)) return graph.node(a).value != 0.0 ? b : c;
  return kNoNode;
}

}  // namespace

// An operation needs no rewrite, so one that has none does not stand here.
NodeId Graph::simplify(Op op, NodeId a, NodeId b, NodeId c) {
  if (op == Op::kAdd) return simplify_sum(*this, a, b);
  if (op == Op::kSub) return simplify_difference(*this, a, b);
  if (op == Op::kMul) return simplify_product(*this, a, b);
  if (op == Op::kDiv) return simplify_quotient(*this, a, b);
  if (op == Op::kNeg) return negated(*this, a);
  if (op == Op::kAbs) return simplify_abs(*this, a);
  if (op == Op::kMin || op == Op::kMax) return a == b ? a : kNoNode;
  if (op == Op::kSelect) return simplify_select(*this, a, b, c);
  return kNoNode;
}

int Graph::count_operations() const {
  return static_cast<int>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return arity(node.op) > 0; }));
}

std::vector<NodeId> GraphCopier::translate(const std::vector<NodeId>& ids) const {
  std::vector<NodeId> result(ids.size());
  std::transform(ids.begin(), ids.end(), result.begin(), *this);
  return result;
}

// All components; the first one's new id.
NodeId GraphCopier::copy_solve(const SolveRecord& solve) {
  const FactorRecord& factor = from_.factors()[static_cast<std::size_t>(solve.factor)];
  auto [known, inserted] = factors_.try_emplace(solve.factor, 0);
  if (inserted) {
    known->second = to_.add_factor(
        {factor.size, translate(factor.matrix), translate(factor.lower), translate(factor.inverse_diagonal)});
  }
  std::vector<NodeId> values;
  for (int i = 0; i < factor.size; ++i) values.push_back((*this)(from_.node(solve.first + i).a));
  const NodeId first = to_.add_solve(known->second, translate(solve.rhs), values);
  for (int i = 1; i < factor.size; ++i) set(solve.first + i, first + i);
  return first;
}

NodeId GraphCopier::copy(NodeId old) {
  const Node& node = from_.node(old);
  NodeId fresh = kNoNode;
  switch (node.op) {
    case Op::kConstant: fresh = to_.add_constant(node.value); break;
    case Op::kInput: fresh = to_.add_input(); break;
    case Op::kLookup: fresh = to_.add_lookup(from_.tables()[static_cast<std::size_t>(node.b)], (*this)(node.a)); break;
    case Op::kSolved:
      if (node.c > 0) return (*this)(old);  // mapped together with the first component
      fresh = copy_solve(from_.solves()[static_cast<std::size_t>(node.b)]);
      break;
#define CGPO_RECORD(id, ...)  // above
#define CGPO_OTHER(id) case Op::id:
#include "cgpo/graph/operations.def"
      fresh = to_.add(node.op, (*this)(node.a), (*this)(node.b), (*this)(node.c));
      break;
  }
  set(old, fresh);
  return fresh;
}

namespace {

// A pass works on nodes alone: kSolved must be gone.
void check_lowered(const Graph& graph) { check(graph.solves().empty(), "the graph is lowered first"); }

}  // namespace

Graph with_outputs(const Graph& graph, std::span<const int> positions) {
  Graph result(graph.precision());
  GraphCopier copier(graph, result);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id) copier.copy(id);
  for (const int position : positions) result.add_output(copier(graph.outputs()[static_cast<std::size_t>(position)]));
  return result;
}

Graph remove_dead(const Graph& graph) {
  check_lowered(graph);
  std::vector<bool> live(graph.nodes().size(), false);
  for (const NodeId output : graph.outputs()) live[static_cast<std::size_t>(output)] = true;
  for (auto id = static_cast<NodeId>(graph.nodes().size()) - 1; id >= 0; --id) {
    if (!live[static_cast<std::size_t>(id)]) continue;
    const Node& node = graph.node(id);
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < arity(node.op); ++i) live[static_cast<std::size_t>(operands[i])] = true;
  }
  Graph result(graph.precision());
  GraphCopier copier(graph, result);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id) {
    if (live[static_cast<std::size_t>(id)] || graph.node(id).op == Op::kInput) copier.copy(id);
  }
  copier.copy_outputs();
  return result;
}

Graph fuse(const Graph& graph) {
  check_lowered(graph);
  std::vector<int> uses(graph.nodes().size(), 0);
  for (const Node& node : graph.nodes()) {
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < arity(node.op); ++i) ++uses[static_cast<std::size_t>(operands[i])];
  }
  for (const NodeId output : graph.outputs()) ++uses[static_cast<std::size_t>(output)];
  const auto product = [&](NodeId id) {
    return graph.node(id).op == Op::kMul && uses[static_cast<std::size_t>(id)] == 1;
  };

  Graph result(graph.precision());
  GraphCopier copier(graph, result);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id) {
    const Node& node = graph.node(id);
    const auto make = [&](Op op, NodeId multiplied, NodeId other) {
      copier.set(id, result.add(op, copier(graph.node(multiplied).a), copier(graph.node(multiplied).b), copier(other)));
    };
    if (node.op == Op::kAdd && product(node.a)) {
      make(Op::kFma, node.a, node.b);
    } else if (node.op == Op::kAdd && product(node.b)) {
      make(Op::kFma, node.b, node.a);
    } else if (node.op == Op::kSub && product(node.a)) {
      make(Op::kFms, node.a, node.b);
    } else if (node.op == Op::kSub && product(node.b)) {
      make(Op::kFnma, node.b, node.a);
    } else {
      copier.copy(id);
    }
  }
  copier.copy_outputs();
  return remove_dead(result);
}

}  // namespace cgpo
