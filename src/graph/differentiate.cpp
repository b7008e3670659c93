#include "cgpo/graph/differentiate.hpp"

#include <optional>
#include <stdexcept>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/solve.hpp"
#include "cgpo/graph/traced.hpp"

namespace cgpo {
namespace {

// What the derivative of a node is made of: its operands and its own value.
struct Local {
  Traced a, b, c, self;
};

// ∂node/∂operand, multiplied onto `seed`; nothing where the derivative is zero everywhere.
std::optional<Traced> multiply_partial(Op op, int operand, const Local& local, const Traced& seed) {
  struct NoSuchOperand {
    operator std::optional<Traced>() const { throw std::logic_error("an operation has fewer operands than it says"); }
  };
  const auto& [a, b, c, self] = local;
  const Traced zero(0.0);
  constexpr std::nullopt_t flat = std::nullopt;
  constexpr NoSuchOperand none;
#define CGPO_ARITHMETIC(id, name, operands, order, value, da, db, dc) \
  case Op::id:                                                        \
    if (operand == 0) return da;                                      \
    if (operand == 1) return db;                                      \
    return dc;
#define CGPO_TRANSCENDENTAL(id, name, operands, value, polynomial, da, db) \
  case Op::id:                                                             \
    if (operand == 0) return da;                                           \
    return db;
#define CGPO_OTHER(id) \
  case Op::id: break;

  switch (op) {
#include "cgpo/graph/operations.def"
  }
  check(false, "a graph is differentiated before it is lowered");
  return std::nullopt;
}

Local local_values(const Graph& from, NodeId id, Graph& to, const GraphCopier& copier) {
  const Node& node = from.node(id);
  const int operands = arity(node.op);
  const auto value = [&](int i, NodeId operand) { return i < operands ? Traced(to, copier(operand)) : Traced(0.0); };
  return {value(0, node.a), value(1, node.b), value(2, node.c), Traced(to, copier(id))};
}

// Per seed, the adjoint (or tangent) of every node of the original graph; kNoNode is a structural zero.
using Sensitivity = std::vector<NodeId>;

void accumulate(Graph& graph, NodeId& sum, const Traced& term) {
  if (term.is_structural_zero()) return;
  sum = sum == kNoNode ? term.id_in(graph) : (Traced(graph, sum) + term).id_in(graph);
}

// b̄ += A⁻¹ x̄ and Ā −= b̄ xᵀ, both halves of the symmetric matrix going to the entry that is stored.
void sweep_solve(const Graph& from, const SolveRecord& solve, Graph& to, const GraphCopier& copier, int new_factor,
                 Sensitivity& adjoint) {
  const FactorRecord& factor = from.factors()[static_cast<std::size_t>(solve.factor)];
  std::vector<NodeId> seed;
  bool any = false;
  for (int i = 0; i < factor.size; ++i) {
    seed.push_back(adjoint[static_cast<std::size_t>(solve.first) + static_cast<std::size_t>(i)]);
    any = any || seed.back() != kNoNode;
  }
  if (!any) return;
  const std::vector<NodeId> bar = add_solve(to, new_factor, seed);
  const auto rhs_bar = [&](int i) { return Traced(to, bar[static_cast<std::size_t>(i)]); };
  const auto x = [&](int i) { return Traced(to, copier(solve.first + i)); };
  for (int i = 0; i < factor.size; ++i) {
    const NodeId rhs = solve.rhs[static_cast<std::size_t>(i)];
    if (rhs != kNoNode) accumulate(to, adjoint[static_cast<std::size_t>(rhs)], rhs_bar(i));
    for (int j = 0; j <= i; ++j) {
      const NodeId entry = factor.matrix[triangle_index(i, j)];
      if (entry == kNoNode) continue;
      const Traced term = i == j ? rhs_bar(i) * x(i) : rhs_bar(i) * x(j) + rhs_bar(j) * x(i);
      accumulate(to, adjoint[static_cast<std::size_t>(entry)], -term);
    }
  }
}

// ẋ = A⁻¹ (ḃ − Ȧ x)
void push_solve(const Graph& from, const SolveRecord& solve, Graph& to, const GraphCopier& copier, int new_factor,
                Sensitivity& tangent) {
  const FactorRecord& factor = from.factors()[static_cast<std::size_t>(solve.factor)];
  std::vector<NodeId> rhs(static_cast<std::size_t>(factor.size), kNoNode);
  const auto x = [&](int i) { return Traced(to, copier(solve.first + i)); };
  for (int i = 0; i < factor.size; ++i) {
    if (const NodeId b = solve.rhs[static_cast<std::size_t>(i)]; b != kNoNode) {
      rhs[static_cast<std::size_t>(i)] = tangent[static_cast<std::size_t>(b)];
    }
  }
  for (int i = 0; i < factor.size; ++i) {
    for (int j = 0; j <= i; ++j) {
      const NodeId entry = factor.matrix[triangle_index(i, j)];
      if (entry == kNoNode || tangent[static_cast<std::size_t>(entry)] == kNoNode) continue;
      const Traced change(to, tangent[static_cast<std::size_t>(entry)]);
      accumulate(to, rhs[static_cast<std::size_t>(i)], -(change * x(j)));
      if (i != j) accumulate(to, rhs[static_cast<std::size_t>(j)], -(change * x(i)));
    }
  }
  bool any = false;
  for (const NodeId id : rhs) any = any || id != kNoNode;
  if (!any) return;
  const std::vector<NodeId> moved = add_solve(to, new_factor, rhs);
  for (int i = 0; i < factor.size; ++i) {
    tangent[static_cast<std::size_t>(solve.first) + static_cast<std::size_t>(i)] = moved[static_cast<std::size_t>(i)];
  }
}

int factor_of_copy(const Graph& to, NodeId solved) {
  return to.solves()[static_cast<std::size_t>(to.node(solved).b)].factor;
}

std::vector<NodeId> add_inputs(Graph& graph, std::size_t count) {
  std::vector<NodeId> ids(count);
  for (NodeId& id : ids) id = graph.add_input();
  return ids;
}

NodeId or_zero(Graph& graph, NodeId id) { return id == kNoNode ? graph.add_constant(0.0) : id; }

}  // namespace

Graph differentiate(const Graph& graph, const ReverseRequest& request) {
  Graph result(graph.precision());
  GraphCopier copier(graph, result);
  const auto count = static_cast<NodeId>(graph.nodes().size());
  for (NodeId id = 0; id < count; ++id) copier.copy(id);
  if (request.keep_outputs) copier.copy_outputs();

  const std::size_t seeds = request.seeds.size();
  std::vector<Sensitivity> adjoint(seeds, Sensitivity(graph.nodes().size(), kNoNode));
  for (std::size_t k = 0; k < seeds; ++k) {
    const std::vector<NodeId> weights = add_inputs(result, request.seeds[k].size());
    for (std::size_t o = 0; o < weights.size(); ++o) {
      const NodeId output = graph.outputs()[static_cast<std::size_t>(request.seeds[k][o])];
      accumulate(result, adjoint[k][static_cast<std::size_t>(output)], Traced(result, weights[o]));
    }
  }

  for (NodeId id = count - 1; id >= 0; --id) {
    const Node& node = graph.node(id);
    if (node.op == Op::kConstant || node.op == Op::kInput) continue;
    if (node.op == Op::kSolved) {
      if (node.c > 0) continue;  // all components are complete when the first is reached
      const SolveRecord& solve = graph.solves()[static_cast<std::size_t>(node.b)];
      for (Sensitivity& seed : adjoint) {
        sweep_solve(graph, solve, result, copier, factor_of_copy(result, copier(id)), seed);
      }
      continue;
    }
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < arity(node.op); ++i) {
      if (graph.is_constant(operands[i])) continue;
      for (Sensitivity& seed : adjoint) {
        const NodeId own = seed[static_cast<std::size_t>(id)];
        if (own == kNoNode) continue;
        const Local local = local_values(graph, id, result, copier);
        if (const auto term = multiply_partial(node.op, i, local, Traced(result, own))) {
          accumulate(result, seed[static_cast<std::size_t>(operands[i])], *term);
        }
      }
    }
  }

  for (const Sensitivity& seed : adjoint) {
    for (const int input : request.wrt) {
      const NodeId id = seed[static_cast<std::size_t>(graph.inputs()[static_cast<std::size_t>(input)])];
      result.add_output(or_zero(result, id));
    }
  }
  return result;
}

Graph differentiate_forward(const Graph& graph) {
  Graph result(graph.precision());
  GraphCopier copier(graph, result);
  const auto count = static_cast<NodeId>(graph.nodes().size());
  for (NodeId id = 0; id < count; ++id) copier.copy(id);

  Sensitivity tangent(graph.nodes().size(), kNoNode);
  const std::vector<NodeId> directions = add_inputs(result, graph.inputs().size());
  for (std::size_t i = 0; i < directions.size(); ++i) {
    tangent[static_cast<std::size_t>(graph.inputs()[i])] = directions[i];
  }
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.node(id);
    if (node.op == Op::kConstant || node.op == Op::kInput) continue;
    if (node.op == Op::kSolved) {
      if (node.c > 0) continue;
      push_solve(graph, graph.solves()[static_cast<std::size_t>(node.b)], result, copier,
                 factor_of_copy(result, copier(id)), tangent);
      continue;
    }
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < arity(node.op); ++i) {
      const NodeId moved = tangent[static_cast<std::size_t>(operands[i])];
      if (moved == kNoNode) continue;
      const Local local = local_values(graph, id, result, copier);
      if (const auto term = multiply_partial(node.op, i, local, Traced(result, moved))) {
        accumulate(result, tangent[static_cast<std::size_t>(id)], *term);
      }
    }
  }
  for (const NodeId output : graph.outputs()) {
    result.add_output(or_zero(result, tangent[static_cast<std::size_t>(output)]));
  }
  return result;
}

}  // namespace cgpo
