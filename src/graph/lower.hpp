// From a traced graph to one that a machine can run in one precision.
#pragma once

#include "cgpo/graph/graph.hpp"

namespace cgpo {

// Expands transcendentals into polynomials made for `precision` (kFloat or kDouble) and linear systems into the scalar
// operations that solve them, so that every backend computes the same bits. Differentiate first: a polynomial's
// derivative is longer and less accurate than the function's.
Graph lower(const Graph& graph, Precision precision);

// lower, then remove what is dead and fuse products with sums.
Graph prepare(const Graph& graph, Precision precision);

}  // namespace cgpo
