// A graph of scalar operations: what a task's physics, reward, costs and observation become when they are traced.
//
// Nodes stand in the order in which they were made, so operands always come before their users, and that order is the
// schedule: it follows the source, where values are used soon after they are made. Making a node that exists already
// returns the old one; an operation on constants is folded; rewriting is limited to what leaves every result the same,
// NaN, infinity and the sign of zero included (x·0, x − x and x + 0 stay).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cgpo/graph/op.hpp"

namespace cgpo {

using NodeId = std::int32_t;
inline constexpr NodeId kNoNode = -1;

struct Node {
  Op op = Op::kConstant;
  NodeId a = kNoNode;
  NodeId b = kNoNode;
  NodeId c = kNoNode;
  double value = 0.0;  // of a constant

  bool operator==(const Node&) const;  // constants by their bits
};

// In which arithmetic constants are folded. A traced graph is exact (double); lower() makes it a float or a double one.
enum class Precision : std::uint8_t { kExact, kFloat, kDouble };

// A symmetric matrix A = Lᵀ D L, factored once, used by any number of systems. Entry (i, j), i ≥ j, stands at
// i(i+1)/2 + j; kNoNode is a zero of the pattern.
struct FactorRecord {
  int size = 0;
  std::vector<NodeId> matrix;
  std::vector<NodeId> lower;             // below the diagonal; L has ones on it
  std::vector<NodeId> inverse_diagonal;  // 1 / D
};

// x = A⁻¹ rhs. Its components are size consecutive kSolved nodes, the first is `first`.
struct SolveRecord {
  int factor = 0;
  std::vector<NodeId> rhs;  // kNoNode: zero
  NodeId first = kNoNode;
};

// A constant table, shared by all graphs that look things up in it; the same table is the same pointer.
using TablePointer = std::shared_ptr<const std::vector<double>>;

class Graph;

// Where a graph is, for the traced values that belong to it: they follow a graph that is moved, and learn of its end.
// A copy is a graph of its own; the values stay with the original.
class GraphPlace {
 public:
  using Shared = std::shared_ptr<Graph*>;  // null: the graph is gone

  GraphPlace() = default;
  GraphPlace(const GraphPlace&) {}
  GraphPlace(GraphPlace&& other) noexcept : shared_(std::move(other.shared_)) { tell(this); }
  GraphPlace& operator=(const GraphPlace& other);
  GraphPlace& operator=(GraphPlace&& other) noexcept;
  ~GraphPlace() { tell(nullptr); }

  const Shared& place();

 private:
  void tell(GraphPlace* here) noexcept;

  Shared shared_;  // made when the first traced value asks for it
};

class Graph : public GraphPlace {
 public:
  explicit Graph(Precision precision = Precision::kExact) : precision_(precision) {}

  NodeId add_input();
  NodeId add_constant(double value);
  // Makes the node, or returns one that has its value.
  NodeId add(Op op, NodeId a, NodeId b = kNoNode, NodeId c = kNoNode);
  NodeId add_lookup(const TablePointer& table, NodeId index);
  int add_factor(FactorRecord factor);
  // Components get their values from `values`; returns the first of them.
  NodeId add_solve(int factor, std::vector<NodeId> rhs, std::span<const NodeId> values);
  void add_output(NodeId node) { outputs_.push_back(node); }

  Precision precision() const { return precision_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  const std::vector<NodeId>& inputs() const { return inputs_; }
  const std::vector<NodeId>& outputs() const { return outputs_; }
  const std::vector<FactorRecord>& factors() const { return factors_; }
  const std::vector<SolveRecord>& solves() const { return solves_; }
  const std::vector<TablePointer>& tables() const { return tables_; }
  bool is_constant(NodeId id) const { return node(id).op == Op::kConstant; }
  bool is_constant(NodeId id, double value) const;  // by its bits: −0 is not 0

  int count_operations() const;  // all but inputs and constants

 private:
  NodeId intern(const Node& node);
  NodeId simplify(Op op, NodeId a, NodeId b, NodeId c);

  struct NodeHash {
    std::size_t operator()(const Node& node) const;
  };

  Precision precision_;
  std::vector<Node> nodes_;
  std::vector<NodeId> inputs_;
  std::vector<NodeId> outputs_;
  std::vector<FactorRecord> factors_;
  std::vector<SolveRecord> solves_;
  std::vector<TablePointer> tables_;
  std::unordered_map<Node, NodeId, NodeHash> known_;
};

// Copies nodes of one graph into another; `map` holds the new id of every old node. Shared by all rewriting passes.
class GraphCopier {
 public:
  GraphCopier(const Graph& from, Graph& to) : from_(from), to_(to), map_(from.nodes().size(), kNoNode) {}

  NodeId operator()(NodeId old) const { return old == kNoNode ? kNoNode : map_[static_cast<std::size_t>(old)]; }
  void set(NodeId old, NodeId fresh) { map_[static_cast<std::size_t>(old)] = fresh; }
  NodeId copy(NodeId old);  // of a node whose operands are mapped; kSolved: brings its record along
  void copy_outputs() {
    for (const NodeId output : from_.outputs()) to_.add_output((*this)(output));
  }

 private:
  NodeId copy_solve(const SolveRecord& solve);
  std::vector<NodeId> translate(const std::vector<NodeId>& ids) const;

  const Graph& from_;
  Graph& to_;
  std::vector<NodeId> map_;
  std::unordered_map<int, int> factors_;  // old index → new index
};

// The same graph with other outputs: those at these positions of the old list.
Graph with_outputs(const Graph& graph, std::span<const int> positions);

// The graph without the nodes that no output needs. Inputs stay, used or not: they are the interface.
Graph remove_dead(const Graph& graph);

// a·b ± c in one rounding where the product has no other use.
Graph fuse(const Graph& graph);

}  // namespace cgpo
