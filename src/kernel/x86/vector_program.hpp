// Private to this folder: a lowered graph as the instructions of a vector machine, registers not yet chosen.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "cgpo/base/cpu.hpp"
#include "cgpo/graph/graph.hpp"

namespace cgpo {

// Sources are called a, b, c. Logical operations and shifts work on bits; a mask is all bits of a lane, or one bit of
// a mask register where the machine has those.
enum class VectorCode : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,  // a < b ? a : b
  kMax,  // a > b ? a : b
  kAnd,
  kAndNot,  // ¬a ∧ b
  kOr,
  kXor,
  kFma,   // a·b + c
  kFms,   // a·b − c
  kFnma,  // c − a·b
  kSqrt,
  kFloor,
  kRoundEven,
  kShiftLeft,   // by `detail` bits
  kShiftRight,  // by `detail` bits, zeros enter
  kMergeBits,   // b where the bits of c are set, a elsewhere
  kCompare,     // a mask; `detail` is a Predicate
  kBlend,       // a is a mask: a ? b : c
  kBlendZero,   // a is a mask: a ? b : 0
  kToIndex,     // number → integer, towards zero
  kGather,      // element a, an integer, of table `detail`
};

// As the instruction set numbers them; none raises an exception on a quiet NaN.
enum class Predicate : std::uint8_t {
  kEqual = 0x00,
  kNotEqual = 0x04,  // true for NaN
  kLess = 0x11,
  kLessEqual = 0x12,
  kNotLess = 0x15,       // true for NaN
  kNotLessEqual = 0x16,  // true for NaN
  kNotGreaterEqual = 0x19,
  kNotGreater = 0x1A,
  kGreaterEqual = 0x1D,
  kGreater = 0x1E,
};

// The predicate that says of (b, a) what this one says of (a, b).
Predicate with_swapped_operands(Predicate predicate);

inline constexpr int kNever = std::numeric_limits<int>::max();

struct VectorStep {
  VectorCode code{};
  int detail = 0;
  int sources = 0;
  int result = -1;
  int source[3] = {-1, -1, -1};
  int next_use[3] = {kNever, kNever, kNever};  // the step that uses this source next, after this one
};

struct VectorValue {
  enum class Kind : std::uint8_t { kConstant, kInput, kResult };
  Kind kind = Kind::kResult;
  bool in_mask_register = false;
  int index = 0;  // of a constant or an input
  int first_use = kNever;
  std::vector<int> outputs;  // rows that it is to be stored in
};

struct VectorProgram {
  std::vector<std::uint64_t> constants;  // bit patterns of one lane, most used first
  std::vector<std::vector<std::uint64_t>> tables;
  std::vector<VectorValue> values;
  std::vector<VectorStep> steps;  // none without a use
};

// Keeps the order of the graph. The graph's precision says what a lane is.
VectorProgram make_vector_program(const Graph& lowered, Isa isa);

}  // namespace cgpo
