// Private to this folder: machine code from a lowered graph.
//
// One walk over the straight line chooses registers and encodes. A register that is needed is taken from the value
// whose next use is furthest away. A value that lost its register is read from memory, as the operand of an instruction
// where that is possible: inputs from their rows, constants from the pool, outputs from where they were stored, all
// others from a frame of scratch memory, into which each is written at most once.
#pragma once

#include <cstddef>
#include <vector>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/cpu.hpp"
#include "cgpo/graph/graph.hpp"

namespace cgpo {

// Of one run of the body, in instructions.
struct CodeStatistics {
  int steps = 0;            // arithmetic, comparisons, selects
  int divisions = 0;        // of those, divisions and square roots
  int memory_operands = 0;  // of those, the ones that read memory
  int reloads = 0;          // loads into registers
  int spills = 0;           // stores into the frame
  int moves = 0;            // between registers
};

struct GeneratedCode {
  std::vector<std::byte> code;
  AlignedVector<std::byte> constants;
  std::size_t constants_middle = 0;  // bytes from the beginning to where the code wants its pointer
  std::size_t frame_bytes = 0;
  std::size_t frame_middle = 0;
  CodeStatistics statistics;
};

GeneratedCode generate_code(const Graph& lowered, Isa isa);

}  // namespace cgpo
