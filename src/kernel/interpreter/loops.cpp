// The interpreter's inner loops, compiled once for each instruction set (see cgpo_vector_sources in cmake/).
//
// The number of lanes is a compile-time constant where it can be, so that a loop is a few vector instructions and no
// test; a remainder is done in the general form. Every lane sees the same operations either way.
#include "cgpo/base/vectorise.hpp"
#include "cgpo/kernel/interpreter/program.hpp"
#include "cgpo/math/primitives.hpp"

namespace cgpo::CGPO_ISA {
namespace {

namespace primitive = elementary::primitive;

// One instruction with that many operands. Lanes is the constant number of lanes, or 0: then `count` says.
template <int Lanes, int Operands, class Real, class Function>
inline void each(const Instruction& instruction, Real* const* pointers, int offset, int count, Function function) {
  const int lanes = Lanes > 0 ? Lanes : count;
  Real* const y = pointers[instruction.result] + offset;
  const Real* const a = pointers[instruction.a] + offset;
  if constexpr (Operands == 1) {
    CGPO_INDEPENDENT
    for (int l = 0; l < lanes; ++l) y[l] = function(a[l], Real{}, Real{});
  } else if constexpr (Operands == 2) {
    const Real* const b = pointers[instruction.b] + offset;
    CGPO_INDEPENDENT
    for (int l = 0; l < lanes; ++l) y[l] = function(a[l], b[l], Real{});
  } else {
    static_assert(Operands == 3);
    const Real* const b = pointers[instruction.b] + offset;
    const Real* const c = pointers[instruction.c] + offset;
    CGPO_INDEPENDENT
    for (int l = 0; l < lanes; ++l) y[l] = function(a[l], b[l], c[l]);
  }
}

template <int Lanes, class Real>
void run_lanes(const Instruction* instructions, int count, Real* const* pointers, const LookupTable<Real>* tables,
               int offset, int lanes) {
  for (int i = 0; i < count; ++i) {
    const Instruction& instruction = instructions[i];
    switch (instruction.op) {
#define CGPO_VALUE(id, operands, value)                                                                   \
  case Op::id:                                                                                            \
    each<Lanes, operands>(                                                                                \
        instruction, pointers, offset, lanes,                                                             \
        []([[maybe_unused]] Real a, [[maybe_unused]] Real b, [[maybe_unused]] Real c) { return value; }); \
    break;
#define CGPO_ARITHMETIC(id, name, operands, order, value, ...) CGPO_VALUE(id, operands, (value))
#define CGPO_PRIMITIVE(id, name, operands, value) CGPO_VALUE(id, operands, (value))
#define CGPO_RECORD(id, ...)          // below
#define CGPO_TRANSCENDENTAL(id, ...)  // below
#include "cgpo/graph/operations.def"
#undef CGPO_VALUE
      case Op::kLookup: {
        const LookupTable<Real> table = tables[instruction.b];
        const Real last = static_cast<Real>(table.size - 1);
        each<Lanes, 1>(instruction, pointers, offset, lanes, [table, last](Real a, Real, Real) {
          const Real clamped = a > Real(0) ? (a < last ? a : last) : Real(0);  // NaN too becomes 0
          return table.values[static_cast<int>(clamped)];
        });
        break;
      }
      case Op::kInput:  // here: copy
        each<Lanes, 1>(instruction, pointers, offset, lanes, [](Real a, Real, Real) { return a; });
        break;
      case Op::kConstant:
      case Op::kSolved:
#define CGPO_TRANSCENDENTAL(id, ...) case Op::id:
#define CGPO_OTHER(id)  // above
#include "cgpo/graph/operations.def"
        break;  // no program holds one
    }
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
