// Derivatives of a graph, as a graph.
#pragma once

#include <vector>

#include "cgpo/graph/graph.hpp"

namespace cgpo {

// Which adjoints a reverse sweep carries. Each seed is a weighted sum of outputs; all seeds are swept together.
struct ReverseRequest {
  std::vector<std::vector<int>> seeds;  // seed k weighs these outputs; the weights become inputs of the result
  std::vector<int> wrt;                 // inputs to differentiate with respect to
  bool keep_outputs = false;            // the result also computes the graph's own outputs, before the adjoints
};

// Reverse mode. With y the outputs and x the inputs of `graph`:
//   inputs of the result:  x, then for each seed k its weights w_k
//   outputs of the result: [y,] then for each seed k and each i of wrt: Σ_o w_k,o ∂y_o/∂x_i
// The sweep runs once; at each node the seeds stand side by side and share what depends on the node alone.
Graph differentiate(const Graph& graph, const ReverseRequest& request);

// Forward mode, the independent witness.
//   inputs of the result:  x, then one tangent ẋ for every input
//   outputs of the result: ẏ for every output
Graph differentiate_forward(const Graph& graph);

}  // namespace cgpo
