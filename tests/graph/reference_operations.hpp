// What every operation on numbers gives, written down a second time with the C library alone: the witness for the table
// of operations and for all that is made from it.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>

#include "cgpo/graph/op.hpp"

namespace cgpo::testing {

// Zeros, infinities, NaN, denormal numbers of both precisions, ties of rounding, exponents at the end of their range.
inline constexpr double kSpecialValues[] = {
    0.0,      -0.0,      1.0, -1.0, 0.5,   -2.5, 3.0, -7.0, 100.5, 1e30, 1e-30, -1e-30, 1e-310, 1e-42,   1e300,
    INFINITY, -INFINITY, NAN, 2.0,  -0.75, 1.5,  2.5, 3.5,  -1.5,  8.25, 127.0, -126.0, 1023.0, 65536.0, 1e9};
inline constexpr int kSpecialCount = static_cast<int>(std::size(kSpecialValues));

// Where the meaning of the operation ends: what backends give beyond is the same bits, but no more is said of it.
template <class Real>
bool is_defined(Op op, Real a) {
  if (op == Op::kPow2i) {
    return std::trunc(a) == a && a < std::numeric_limits<Real>::max_exponent &&
           a >= std::numeric_limits<Real>::min_exponent - 1;
  }
  if (op == Op::kExponent || op == Op::kMantissa) return std::isnormal(a) && a > Real(0);
  return true;
}

template <class Real>
Real reference_value(Op op, Real a, Real b, Real c) {
  const auto as_number = [](bool holds) { return static_cast<Real>(holds ? 1 : 0); };
  int exponent = 0;
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kNeg: return std::copysign(a, std::signbit(a) ? Real(1) : Real(-1));
    case Op::kFma: return std::fma(a, b, c);
    case Op::kFms: return std::fma(a, b, -c);
    case Op::kFnma: return std::fma(-a, b, c);
    case Op::kSqrt: return std::sqrt(a);
    case Op::kRsqrt: return Real(1) / std::sqrt(a);
    case Op::kReciprocal: return Real(1) / a;
    case Op::kAbs: return std::signbit(a) ? -a : a;
    case Op::kMin: return std::isless(a, b) ? a : b;
    case Op::kMax: return std::isgreater(a, b) ? a : b;
    case Op::kFloor: return std::floor(a);
    case Op::kLess: return as_number(std::isless(a, b));
    case Op::kLessEqual: return as_number(std::islessequal(a, b));
    case Op::kEqual: return as_number(std::islessequal(a, b) && std::isgreaterequal(a, b));
    case Op::kSelect: return std::fpclassify(a) == FP_ZERO ? c : b;
    case Op::kSin: return std::sin(a);
    case Op::kCos: return std::cos(a);
    case Op::kTan: return std::tan(a);
    case Op::kAtan2: return std::atan2(a, b);
    case Op::kExp: return std::exp(a);
    case Op::kLog: return std::log(a);
    case Op::kTanh: return std::tanh(a);
    case Op::kRoundEven: return std::nearbyint(a);
    case Op::kPow2i: {
      const auto power = static_cast<int>(a);
      return std::ldexp(Real(1), power);
    }
    case Op::kExponent: return std::logb(a);
    case Op::kMantissa: return Real(2) * std::frexp(a, &exponent);
    case Op::kCopysign: return std::copysign(a, b);
    case Op::kConstant:
    case Op::kInput:
    case Op::kSolved:
    case Op::kLookup: break;
  }
  throw std::logic_error("an operation on numbers is meant");
}

}  // namespace cgpo::testing
