// The operations of a graph.
#pragma once

#include <cstdint>

namespace cgpo {

// Operands are called a, b, c. A comparison gives 1 or 0; select takes a non-zero first operand for true.
enum class Op : std::uint8_t {
  kConstant,
  kInput,
  // arithmetic, each rounded once
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kFma,   // a·b + c
  kFms,   // a·b − c
  kFnma,  // c − a·b
  kSqrt,
  kRsqrt,       // 1 / sqrt(a), two roundings
  kReciprocal,  // 1 / a
  kAbs,
  kMin,  // a < b ? a : b
  kMax,  // a > b ? a : b
  kFloor,
  kLess,
  kLessEqual,
  kEqual,
  kSelect,  // a ≠ 0 ? b : c
  // expanded into polynomials by lower()
  kSin,
  kCos,
  kTan,
  kAtan2,
  kExp,
  kLog,
  kTanh,
  // component c of the solution of linear system b; its value is operand a, its derivative the implicit-function rule
  kSolved,
  // what the polynomials are made of; they appear only in lowered graphs and have no derivative
  kRoundEven,
  kPow2i,     // 2^a for an integral a in the range of normal exponents
  kExponent,  // floor(log2 a) of a positive normal a
  kMantissa,  // a / 2^exponent(a), in [1, 2)
  kCopysign,  // |a| with the sign of b
  kLookup,    // element a of constant table b
};

inline constexpr int kOpCount = static_cast<int>(Op::kLookup) + 1;

const char* op_name(Op op);

// How many of a, b, c are nodes.
constexpr int arity(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kInput: return 0;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kMin:
    case Op::kMax:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kEqual:
    case Op::kAtan2:
    case Op::kCopysign: return 2;
    case Op::kFma:
    case Op::kFms:
    case Op::kFnma:
    case Op::kSelect: return 3;
    default: return 1;
  }
}

constexpr bool is_transcendental(Op op) { return op >= Op::kSin && op <= Op::kTanh; }

}  // namespace cgpo
