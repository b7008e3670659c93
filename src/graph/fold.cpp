#include "cgpo/graph/fold.hpp"

#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/math/primitives.hpp"

namespace cgpo {
namespace {

namespace primitive = elementary::primitive;

template <class Real>
Real value_of(Op op, Real a, Real b, Real c) {
#define CGPO_VALUE(id, value) \
  case Op::id:                \
    return value;
#define CGPO_ARITHMETIC(id, name, operands, order, value, ...) CGPO_VALUE(id, value)
#define CGPO_TRANSCENDENTAL(id, name, operands, value, ...) CGPO_VALUE(id, value)
#define CGPO_PRIMITIVE(id, name, operands, value) CGPO_VALUE(id, value)
#define CGPO_OTHER(id) \
  case Op::id: break;

  switch (op) {
#include "cgpo/graph/operations.def"
  }
#undef CGPO_VALUE
  check(false, "only an operation on values can be folded");
  return a;
}

}  // namespace

double fold(Op op, double a, double b, double c, Precision precision) {
  if (precision == Precision::kFloat) {
    return value_of<float>(op, static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  return value_of<double>(op, a, b, c);
}

}  // namespace cgpo
