// Private to this folder: the instructions of a VectorProgram, encoded for one instruction set and precision.
//
// The code is a function void(frame, constants, inputs, outputs, begin, end): it runs its body for the lanes at byte
// offsets begin, begin + vector, … < end of the rows. Registers that a caller would want back are not touched.
#pragma once

#include <asmjit/x86.h>
#include <cstddef>
#include <vector>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/cpu.hpp"
#include "cgpo/kernel/x86/vector_program.hpp"

namespace cgpo {

class VectorAssembler {
 public:
  // `frame` and `constants` of the call point this many slots, or constants, into their memory: an instruction has one
  // byte for a small distance, of either sign, and four for a larger one.
  struct Middle {
    int slot;
    int constant;
  };

  VectorAssembler(Isa isa, Precision precision);

  bool wide() const { return wide_; }  // AVX-512
  int vector_bytes() const { return wide_ ? 64 : 32; }
  int vector_registers() const { return wide_ ? 32 : 16; }
  Middle middle() const { return wide_ ? Middle{128, 128} : Middle{4, 4}; }
  int constant_bytes() const { return wide_ ? element_bytes_ : vector_bytes(); }

  // The memory that the code reads its constants from; tables follow the constants.
  AlignedVector<std::byte> lay_out_constants(const VectorProgram& program);

  void begin_loop();
  std::vector<std::byte> end_loop();

  // Operands in memory. That of a row emits the load of its address, so it must be used next.
  using Operand = asmjit::Operand;
  using Memory = asmjit::x86::Mem;
  Operand reg(int number) const;
  Memory frame(int slot) const;
  Memory constant(int index) const;  // of one lane, repeated
  Memory input(int row);
  Memory output(int row);

  void load(int to, const Memory& from);
  void load_constant(int to, int index);
  void store(const Memory& to, int from);
  void move(int to, int from);
  void load_mask(int to, int slot);
  void store_mask(int slot, int from);

  void unary(VectorCode code, int to, const Operand& a, int detail);  // a shift wants a register
  void binary(VectorCode code, int to, int a, const Operand& b);
  // The fused instructions overwrite one of their three sources.
  void fused_into_factor(VectorCode code, int to, const Operand& factor, const Operand& addend);  // one in memory
  void fused_into_addend(VectorCode code, int to, int factor, const Operand& other_factor);
  // So does this: `overwritten` says which of a, b, c; the other two follow in their order.
  void merge_bits(int overwritten, int to, int second, const Operand& third);
  void compare(Predicate predicate, int to_mask, int a, const Operand& b);
  void blend(int to, int mask, const Operand& yes, int no);
  void blend_zero(int to, int mask, const Operand& yes);
  void blend_zero_constant(int to, int mask, int index);
  void gather(int to, int index, int table, int scratch);  // all registers different; scratch: AVX2 only

 private:
  struct Failure final : asmjit::ErrorHandler {
    void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter* origin) override;
  };
  using Id = asmjit::InstId;
  // Of a fused instruction: what it overwrites and reads from memory.
  enum class Fused : std::uint8_t { kMultiplyLast, kAddLast, kIntoAddend };

  Id instruction(VectorCode code, Fused form = Fused::kAddLast) const;
  asmjit::x86::Vec vector(int number) const;
  asmjit::x86::Vec indices(int number) const;  // of 32 bits, also for doubles: half a register then
  Id pick(Id in_float, Id in_double) const { return element_bytes_ == 4 ? in_float : in_double; }

  bool wide_;
  int element_bytes_;
  std::vector<int> table_offset_;
  Failure failure_;
  asmjit::CodeHolder code_;
  asmjit::x86::Assembler assembler_;
  asmjit::Label loop_;
};

}  // namespace cgpo
