// The interpreter's inner loops, compiled once for each instruction set (see cgpo_vector_sources in cmake/).
//
// The number of lanes is a compile-time constant where it can be, so that a loop is a few vector instructions and no
// test; a remainder is done in the general form. Every lane sees the same operations either way.
#include <cmath>

#include "cgpo/base/vectorise.hpp"
#include "cgpo/kernel/interpreter_program.hpp"
#include "cgpo/math/primitives.hpp"

namespace cgpo::CGPO_ISA {
namespace {

// Lanes is the constant number of lanes, or 0: then `count` says.
template <int Lanes, class Real, class Function>
inline void each(Real* result, const Real* a, int count, Function function) {
  const int lanes = Lanes > 0 ? Lanes : count;
  CGPO_INDEPENDENT
  for (int l = 0; l < lanes; ++l) result[l] = function(a[l]);
}

template <int Lanes, class Real, class Function>
inline void each(Real* result, const Real* a, const Real* b, int count, Function function) {
  const int lanes = Lanes > 0 ? Lanes : count;
  CGPO_INDEPENDENT
  for (int l = 0; l < lanes; ++l) result[l] = function(a[l], b[l]);
}

template <int Lanes, class Real, class Function>
inline void each(Real* result, const Real* a, const Real* b, const Real* c, int count, Function function) {
  const int lanes = Lanes > 0 ? Lanes : count;
  CGPO_INDEPENDENT
  for (int l = 0; l < lanes; ++l) result[l] = function(a[l], b[l], c[l]);
}

template <int Lanes, class Real>
void run_lanes(const Instruction* instructions, int count, Real* const* pointers, const LookupTable<Real>* tables,
               int offset, int lanes) {
  for (int i = 0; i < count; ++i) {
    const Instruction& instruction = instructions[i];
    Real* const y = pointers[instruction.result] + offset;
    const Real* const a = pointers[instruction.a] + offset;
    const auto b = [&] { return static_cast<const Real*>(pointers[instruction.b] + offset); };
    const auto c = [&] { return static_cast<const Real*>(pointers[instruction.c] + offset); };
#define CGPO_UNARY(op, expression)                               \
  case Op::op:                                                   \
    each<Lanes>(y, a, lanes, [](Real p) { return expression; }); \
    break;
#define CGPO_BINARY(op, expression)                                           \
  case Op::op:                                                                \
    each<Lanes>(y, a, b(), lanes, [](Real p, Real q) { return expression; }); \
    break;
#define CGPO_TERNARY(op, expression) \
  case Op::op: each<Lanes>(y, a, b(), c(), lanes, [](Real p, Real q, Real r) { return expression; }); break;
    switch (instruction.op) {
      CGPO_BINARY(kAdd, p + q)
      CGPO_BINARY(kSub, p - q)
      CGPO_BINARY(kMul, p * q)
      CGPO_BINARY(kDiv, p / q)
      CGPO_UNARY(kNeg, -p)
      CGPO_TERNARY(kFma, std::fma(p, q, r))
      CGPO_TERNARY(kFms, std::fma(p, q, -r))
      CGPO_TERNARY(kFnma, std::fma(-p, q, r))
      CGPO_UNARY(kSqrt, std::sqrt(p))
      CGPO_UNARY(kRsqrt, Real(1) / std::sqrt(p))
      CGPO_UNARY(kReciprocal, Real(1) / p)
      CGPO_UNARY(kAbs, std::abs(p))
      CGPO_BINARY(kMin, p < q ? p : q)
      CGPO_BINARY(kMax, p > q ? p : q)
      CGPO_UNARY(kFloor, std::floor(p))
      CGPO_BINARY(kLess, p < q ? Real(1) : Real(0))
      CGPO_BINARY(kLessEqual, p <= q ? Real(1) : Real(0))
      CGPO_BINARY(kEqual, p == q ? Real(1) : Real(0))
      CGPO_TERNARY(kSelect, p != Real(0) ? q : r)
      CGPO_UNARY(kRoundEven, elementary::primitive::round_even(p))
      CGPO_UNARY(kPow2i, elementary::primitive::pow2i(p))
      CGPO_UNARY(kExponent, elementary::primitive::exponent(p))
      CGPO_UNARY(kMantissa, elementary::primitive::mantissa(p))
      CGPO_BINARY(kCopysign, elementary::primitive::copysign(p, q))
      case Op::kLookup: {
        const LookupTable<Real> table = tables[instruction.b];
        const Real last = static_cast<Real>(table.size - 1);
        each<Lanes>(y, a, lanes, [table, last](Real p) {
          const Real clamped = p > Real(0) ? (p < last ? p : last) : Real(0);  // NaN too becomes 0
          return table.values[static_cast<int>(clamped)];
        });
        break;
      }
      case Op::kInput: each<Lanes>(y, a, lanes, [](Real p) { return p; }); break;  // copy
      default: break;                                                              // lowered graphs hold nothing else
    }
#undef CGPO_UNARY
#undef CGPO_BINARY
#undef CGPO_TERNARY
  }
}

template <class Real>
void run_any(const Instruction* instructions, int count, Real* const* pointers, const LookupTable<Real>* tables,
             int lanes) {
  constexpr int kFull = InterpreterProgram<Real>::kBlock;
  constexpr int kQuarter = kFull / 4;
  int done = 0;
  if (lanes == kFull) {
    run_lanes<kFull>(instructions, count, pointers, tables, 0, kFull);
    return;
  }
  for (; done + kQuarter <= lanes; done += kQuarter) {
    run_lanes<kQuarter>(instructions, count, pointers, tables, done, kQuarter);
  }
  if (done < lanes) run_lanes<0>(instructions, count, pointers, tables, done, lanes - done);
}

}  // namespace

void run_block(const Instruction* instructions, int count, float* const* pointers, const LookupTable<float>* tables,
               int lanes);
void run_block(const Instruction* instructions, int count, double* const* pointers, const LookupTable<double>* tables,
               int lanes);

void run_block(const Instruction* instructions, int count, float* const* pointers, const LookupTable<float>* tables,
               int lanes) {
  run_any(instructions, count, pointers, tables, lanes);
}
void run_block(const Instruction* instructions, int count, double* const* pointers, const LookupTable<double>* tables,
               int lanes) {
  run_any(instructions, count, pointers, tables, lanes);
}

}  // namespace cgpo::CGPO_ISA
