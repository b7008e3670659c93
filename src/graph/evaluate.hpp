// The plainest way to run a graph: one environment, node by node, in double, with the C library's functions. It is the
// witness for everything that is faster.
#pragma once

#include <span>
#include <vector>

#include "cgpo/graph/graph.hpp"

namespace cgpo {

std::vector<double> evaluate(const Graph& graph, std::span<const double> inputs);

}  // namespace cgpo
