#include "cgpo/graph/solve.hpp"

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

NodeId id_or_none(Graph& graph, const Traced& value) {
  return value.is_structural_zero() ? kNoNode : value.id_in(graph);
}

Traced traced_or_zero(Graph& graph, NodeId id) { return id == kNoNode ? Traced(0.0) : Traced(graph, id); }

}  // namespace

std::vector<NodeId> add_solve(Graph& graph, int factor, const std::vector<NodeId>& rhs) {
  const FactorRecord record = graph.factors()[static_cast<std::size_t>(factor)];
  SymmetricFactor<Traced> values{SymmetricMatrix<Traced>(record.size), {}};
  for (int i = 0; i < record.size; ++i) {
    for (int j = 0; j < i; ++j) {
      values.lower(i, j) = traced_or_zero(graph, record.lower[triangle_index(i, j)]);
    }
    values.inverse_diagonal.push_back(traced_or_zero(graph, record.inverse_diagonal[static_cast<std::size_t>(i)]));
  }
  std::vector<Traced> x;
  for (const NodeId id : rhs) x.push_back(traced_or_zero(graph, id));
  x = solve_values(values, std::move(x));
  std::vector<NodeId> ids;
  for (const Traced& value : x) ids.push_back(value.id_in(graph));
  const NodeId first = graph.add_solve(factor, rhs, ids);
  for (int i = 0; i < record.size; ++i) ids[static_cast<std::size_t>(i)] = first + i;
  return ids;
}

std::vector<Traced> solve_symmetric(const SymmetricMatrix<Traced>& matrix, std::span<const Traced> rhs) {
  const int n = matrix.size();
  check(static_cast<int>(rhs.size()) == n, "the right-hand side has as many entries as the matrix has rows");
  Graph* graph = nullptr;
  for (const Traced& entry : matrix.entries()) graph = graph == nullptr ? entry.graph() : graph;
  for (const Traced& entry : rhs) graph = graph == nullptr ? entry.graph() : graph;
  if (graph == nullptr) return solve_values(factor_values(matrix), std::vector<Traced>(rhs.begin(), rhs.end()));

  const SymmetricFactor<Traced> factor = factor_values(matrix);
  FactorRecord record{.size = n, .matrix = {}, .lower = {}, .inverse_diagonal = {}};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      record.matrix.push_back(id_or_none(*graph, matrix(i, j)));
      record.lower.push_back(j == i ? kNoNode : id_or_none(*graph, factor.lower(i, j)));
    }
    record.inverse_diagonal.push_back(factor.inverse_diagonal[static_cast<std::size_t>(i)].id_in(*graph));
  }
  const int index = graph->add_factor(std::move(record));
  std::vector<NodeId> b;
  for (const Traced& entry : rhs) b.push_back(id_or_none(*graph, entry));
  std::vector<Traced> x;
  for (const NodeId id : add_solve(*graph, index, b)) x.emplace_back(*graph, id);
  return x;
}

}  // namespace cgpo
