#include "cgpo/graph/differentiate.hpp"

#include <array>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/solve.hpp"
#include "cgpo/graph/traced.hpp"

namespace cgpo {
namespace {

// ∂node/∂operand, multiplied onto `seed` (a tangent or an adjoint: the same factor serves both directions).
// Returns false where the derivative is zero everywhere. `self` is the node's own value.
struct Local {
  Traced a, b, c, self;
};

bool multiply_partial(Op op, int operand, const Local& v, const Traced& seed, Traced& result) {
  const Traced zero(0.0);
  switch (op) {
    case Op::kAdd: result = seed; return true;
    case Op::kSub: result = operand == 0 ? seed : -seed; return true;
    case Op::kMul: result = seed * (operand == 0 ? v.b : v.a); return true;
    case Op::kDiv: {  // one reciprocal serves all seeds
      const Traced scaled = seed * reciprocal(v.b);
      result = operand == 0 ? scaled : -(scaled * v.self);
      return true;
    }
    case Op::kNeg: result = -seed; return true;
    case Op::kFma:
    case Op::kFms:
    case Op::kFnma: {
      if (operand == 2) {
        result = op == Op::kFms ? -seed : seed;
      } else {
        const Traced product = seed * (operand == 0 ? v.b : v.a);
        result = op == Op::kFnma ? -product : product;
      }
      return true;
    }
    case Op::kSqrt: result = seed * (0.5 * reciprocal(v.self)); return true;
    case Op::kRsqrt: result = seed * (-0.5 * (v.self * v.self * v.self)); return true;
    case Op::kReciprocal: result = -(seed * (v.self * v.self)); return true;
    // At the kink of |a| the middle of the two slopes; elsewhere the branch that was taken.
    case Op::kAbs: result = select(v.a < zero, -seed, select(zero < v.a, seed, zero)); return true;
    case Op::kMin: result = operand == 0 ? select(v.a < v.b, seed, zero) : select(v.a < v.b, zero, seed); return true;
    case Op::kMax: result = operand == 0 ? select(v.b < v.a, seed, zero) : select(v.b < v.a, zero, seed); return true;
    case Op::kSelect:
      if (operand == 0) return false;
      result = operand == 1 ? select(v.a, seed, zero) : select(v.a, zero, seed);
      return true;
    case Op::kSin: result = seed * cos(v.a); return true;
    case Op::kCos: result = -(seed * sin(v.a)); return true;
    case Op::kTan: result = seed * (1.0 + v.self * v.self); return true;
    case Op::kAtan2: {
      const Traced scale = reciprocal(v.a * v.a + v.b * v.b);
      result = operand == 0 ? seed * (v.b * scale) : -(seed * (v.a * scale));
      return true;
    }
    case Op::kExp: result = seed * v.self; return true;
    case Op::kLog: result = seed * reciprocal(v.a); return true;
    case Op::kTanh: result = seed * (1.0 - v.self * v.self); return true;
    case Op::kFloor:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kEqual: return false;
    case Op::kConstant:
    case Op::kInput:
    case Op::kSolved:
    case Op::kRoundEven:
    case Op::kPow2i:
    case Op::kExponent:
    case Op::kMantissa:
    case Op::kCopysign:
    case Op::kLookup: break;
  }
  check(false, "a graph is differentiated before it is lowered");
  return false;
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
    seed.push_back(adjoint[static_cast<std::size_t>(solve.first + i)]);
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
      const NodeId entry = factor.matrix[static_cast<std::size_t>(i * (i + 1) / 2 + j)];
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
      const NodeId entry = factor.matrix[static_cast<std::size_t>(i * (i + 1) / 2 + j)];
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
    tangent[static_cast<std::size_t>(solve.first + i)] = moved[static_cast<std::size_t>(i)];
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
        Traced term;
        if (multiply_partial(node.op, i, local_values(graph, id, result, copier), Traced(result, own), term)) {
          accumulate(result, seed[static_cast<std::size_t>(operands[i])], term);
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
      Traced term;
      if (moved != kNoNode &&
          multiply_partial(node.op, i, local_values(graph, id, result, copier), Traced(result, moved), term)) {
        accumulate(result, tangent[static_cast<std::size_t>(id)], term);
      }
    }
  }
  for (const NodeId output : graph.outputs()) {
    result.add_output(or_zero(result, tangent[static_cast<std::size_t>(output)]));
  }
  return result;
}

}  // namespace cgpo
