// Private to this folder: what the interpreter's loops, compiled once for each instruction set, are given to run. Plain
// data only: code that is shared between instruction sets must not be compiled with the flags of one.
#pragma once

#include <cstdint>
#include <vector>

#include "cgpo/graph/op.hpp"

namespace cgpo {

struct Instruction {
  Op op;
  std::int32_t result;  // values are numbered: constants, inputs, outputs, then slots of scratch memory
  std::int32_t a;
  std::int32_t b;
  std::int32_t c;
};

template <class Real>
struct LookupTable {
  const Real* values;
  int size;
};

template <class Real>
struct InterpreterProgram {
  // Runs all instructions on `lanes` ≤ kBlock lanes; pointers[v] is where value v lies. The loop knows no memory but
  // that.
  using Loop = void (*)(const Instruction* instructions, int count, Real* const* pointers,
                        const LookupTable<Real>* tables, int lanes);
  static constexpr int kBlock = static_cast<int>(512 / sizeof(Real));  // lanes of a block: 512 bytes a value

  std::vector<Instruction> instructions;
  std::vector<Real> constants;
  int inputs = 0;
  int outputs = 0;
  int slots = 0;
  std::vector<std::vector<Real>> table_values;
  std::vector<LookupTable<Real>> tables;

  int first_input() const { return static_cast<int>(constants.size()); }
  int first_output() const { return first_input() + inputs; }
  int first_slot() const { return first_output() + outputs; }
  int values() const { return first_slot() + slots; }
};

}  // namespace cgpo
