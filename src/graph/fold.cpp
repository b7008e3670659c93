#include "cgpo/graph/fold.hpp"

#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/math/primitives.hpp"

namespace cgpo {
namespace {

template <class Real>
Real value_of(Op op, Real a, Real b, Real c) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kNeg: return -a;
    case Op::kFma: return std::fma(a, b, c);
    case Op::kFms: return std::fma(a, b, -c);
    case Op::kFnma: return std::fma(-a, b, c);
    case Op::kSqrt: return std::sqrt(a);
    case Op::kRsqrt: return Real(1) / std::sqrt(a);
    case Op::kReciprocal: return Real(1) / a;
    case Op::kAbs: return std::abs(a);
    case Op::kMin: return a < b ? a : b;
    case Op::kMax: return a > b ? a : b;
    case Op::kFloor: return std::floor(a);
    case Op::kLess: return a < b ? Real(1) : Real(0);
    case Op::kLessEqual: return a <= b ? Real(1) : Real(0);
    case Op::kEqual: return a == b ? Real(1) : Real(0);
    case Op::kSelect: return a != Real(0) ? b : c;
    case Op::kSin: return std::sin(a);
    case Op::kCos: return std::cos(a);
    case Op::kTan: return std::tan(a);
    case Op::kAtan2: return std::atan2(a, b);
    case Op::kExp: return std::exp(a);
    case Op::kLog: return std::log(a);
    case Op::kTanh: return std::tanh(a);
    case Op::kRoundEven: return elementary::primitive::round_even(a);
    case Op::kPow2i: return elementary::primitive::pow2i(a);
    case Op::kExponent: return elementary::primitive::exponent(a);
    case Op::kMantissa: return elementary::primitive::mantissa(a);
    case Op::kCopysign: return elementary::primitive::copysign(a, b);
    case Op::kConstant:
    case Op::kInput:
    case Op::kSolved:
    case Op::kLookup: break;
  }
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
