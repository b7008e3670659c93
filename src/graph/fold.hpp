// The value of one operation: what a constant expression folds to, and the reference for every backend.
#pragma once

#include "cgpo/graph/graph.hpp"

namespace cgpo {

// In kFloat the operands are floats and the result is the float operation's; else all is double.
double fold(Op op, double a, double b, double c, Precision precision);

}  // namespace cgpo
