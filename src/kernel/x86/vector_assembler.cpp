#include "cgpo/kernel/x86/vector_assembler.hpp"

#include <cstring>
#include <new>
#include <stdexcept>

#include "cgpo/base/error.hpp"

namespace cgpo {

namespace x86 = asmjit::x86;
namespace Inst = x86::Inst;

namespace {

// The call's arguments stay where the calling convention of Linux puts them.
constexpr x86::Gp kFrame = x86::rdi;
constexpr x86::Gp kConstants = x86::rsi;
constexpr x86::Gp kInputs = x86::rdx;
constexpr x86::Gp kOutputs = x86::rcx;
constexpr x86::Gp kLane = x86::r8;
constexpr x86::Gp kEnd = x86::r9;
constexpr x86::Gp kAddress = x86::rax;
constexpr x86::KReg kGatherMask = x86::k7;
// Truth tables of c ? b : a, over (a, b, c), (b, a, c) and (c, a, b).
constexpr int kMergeTables[] = {0xD8, 0xE4, 0xAC};

std::size_t size(int i) { return static_cast<std::size_t>(i); }

// What tells no error handler.
void expect(asmjit::Error error) {
  if (error == asmjit::kErrorOutOfMemory) throw std::bad_alloc();
  if (error != asmjit::kErrorOk) {
    throw std::logic_error(fmt::format("code could not be laid out: {}", asmjit::DebugUtils::errorAsString(error)));
  }
}

}  // namespace

void VectorAssembler::Failure::handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) {
  if (error == asmjit::kErrorOutOfMemory) throw std::bad_alloc();
  throw std::logic_error(fmt::format("an instruction could not be encoded: {}", message));
}

VectorAssembler::VectorAssembler(Isa isa, Precision precision)
    : wide_(isa == Isa::kAvx512), element_bytes_(precision == Precision::kFloat ? 4 : 8) {
  expect(code_.init(asmjit::Environment(asmjit::Arch::kX64)));
  code_.setErrorHandler(&failure_);
  expect(code_.attach(&assembler_));
}

x86::Vec VectorAssembler::vector(int number) const {
  const auto id = static_cast<std::uint32_t>(number);
  return wide_ ? x86::Vec(x86::zmm(id)) : x86::Vec(x86::ymm(id));
}

x86::Vec VectorAssembler::indices(int number) const {
  const x86::Vec full = vector(number);
  return element_bytes_ == 4 ? full : wide_ ? x86::Vec(full.ymm()) : x86::Vec(full.xmm());
}

AlignedVector<std::byte> VectorAssembler::lay_out_constants(const VectorProgram& program) {
  const std::size_t copies = size(constant_bytes() / element_bytes_);
  AlignedVector<std::byte> memory;
  const auto append = [&](std::uint64_t bits) {  // little-endian: the low bytes are the number
    const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
    memory.insert(memory.end(), bytes, bytes + element_bytes_);
  };
  for (const std::uint64_t bits : program.constants) {
    for (std::size_t i = 0; i < copies; ++i) append(bits);
  }
  // The pointer into the middle has to stay inside.
  memory.resize(std::max(memory.size(), size((middle().constant + 1) * constant_bytes())));
  for (const auto& table : program.tables) {
    table_offset_.push_back(static_cast<int>(memory.size()));
    for (const std::uint64_t bits : table) append(bits);
  }
  return memory;
}

void VectorAssembler::begin_loop() {
  loop_ = assembler_.newLabel();
  assembler_.align(asmjit::AlignMode::kCode, 64);
  assembler_.bind(loop_);
}

std::vector<std::byte> VectorAssembler::end_loop() {
  assembler_.add(kLane, vector_bytes());
  assembler_.cmp(kLane, kEnd);
  assembler_.jb(loop_);
  assembler_.vzeroupper();
  assembler_.ret();
  expect(code_.flatten());
  expect(code_.resolveUnresolvedLinks());
  std::vector<std::byte> bytes(code_.codeSize());
  expect(code_.copyFlattenedData(bytes.data(), bytes.size()));
  return bytes;
}

asmjit::Operand VectorAssembler::reg(int number) const { return vector(number); }

x86::Mem VectorAssembler::frame(int slot) const {
  return x86::ptr(kFrame, (slot - middle().slot) * vector_bytes(), static_cast<std::uint32_t>(vector_bytes()));
}

x86::Mem VectorAssembler::constant(int index) const {
  const int offset = (index - middle().constant) * constant_bytes();
  if (!wide_) return x86::ptr(kConstants, offset, 32);
  const x86::Mem element = x86::ptr(kConstants, offset);
  return element_bytes_ == 4 ? element._1to16() : element._1to8();
}

x86::Mem VectorAssembler::input(int row) {
  assembler_.mov(kAddress, x86::ptr(kInputs, 8 * row));
  return x86::ptr(kAddress, kLane, 0, 0, static_cast<std::uint32_t>(vector_bytes()));
}

x86::Mem VectorAssembler::output(int row) {
  assembler_.mov(kAddress, x86::ptr(kOutputs, 8 * row));
  return x86::ptr(kAddress, kLane, 0, 0, static_cast<std::uint32_t>(vector_bytes()));
}

void VectorAssembler::load(int to, const Memory& from) { assembler_.vmovups(vector(to), from); }

void VectorAssembler::load_constant(int to, int index) {
  if (!wide_) return load(to, constant(index));
  assembler_.emit(pick(Inst::kIdVbroadcastss, Inst::kIdVbroadcastsd), vector(to),
                  constant(index).cloneBroadcasted(Memory::Broadcast::kNone));
}

void VectorAssembler::store(const Memory& to, int from) { assembler_.vmovups(to, vector(from)); }
void VectorAssembler::move(int to, int from) { assembler_.vmovaps(vector(to), vector(from)); }

void VectorAssembler::load_mask(int to, int slot) {
  Memory memory = frame(slot);
  memory.setSize(2);
  assembler_.kmovw(x86::k(static_cast<std::uint32_t>(to)), memory);
}

void VectorAssembler::store_mask(int slot, int from) {
  Memory memory = frame(slot);
  memory.setSize(2);
  assembler_.kmovw(memory, x86::k(static_cast<std::uint32_t>(from)));
}

// In the names of the fused ones 1, 2, 3 are the operands in their order: 213 is second · first + third.
asmjit::InstId VectorAssembler::instruction(VectorCode code, Fused form) const {
  const auto fused = [&](Id multiply_last, Id add_last, Id into_addend) {
    return form == Fused::kMultiplyLast ? multiply_last : form == Fused::kAddLast ? add_last : into_addend;
  };
  switch (code) {
    case VectorCode::kAdd: return pick(Inst::kIdVaddps, Inst::kIdVaddpd);
    case VectorCode::kSub: return pick(Inst::kIdVsubps, Inst::kIdVsubpd);
    case VectorCode::kMul: return pick(Inst::kIdVmulps, Inst::kIdVmulpd);
    case VectorCode::kDiv: return pick(Inst::kIdVdivps, Inst::kIdVdivpd);
    case VectorCode::kMin: return pick(Inst::kIdVminps, Inst::kIdVminpd);
    case VectorCode::kMax: return pick(Inst::kIdVmaxps, Inst::kIdVmaxpd);
    case VectorCode::kAnd: return pick(Inst::kIdVandps, Inst::kIdVandpd);
    case VectorCode::kAndNot: return pick(Inst::kIdVandnps, Inst::kIdVandnpd);
    case VectorCode::kOr: return pick(Inst::kIdVorps, Inst::kIdVorpd);
    case VectorCode::kXor: return pick(Inst::kIdVxorps, Inst::kIdVxorpd);
    case VectorCode::kFma:
      return fused(pick(Inst::kIdVfmadd132ps, Inst::kIdVfmadd132pd), pick(Inst::kIdVfmadd213ps, Inst::kIdVfmadd213pd),
                   pick(Inst::kIdVfmadd231ps, Inst::kIdVfmadd231pd));
    case VectorCode::kFms:
      return fused(pick(Inst::kIdVfmsub132ps, Inst::kIdVfmsub132pd), pick(Inst::kIdVfmsub213ps, Inst::kIdVfmsub213pd),
                   pick(Inst::kIdVfmsub231ps, Inst::kIdVfmsub231pd));
    case VectorCode::kFnma:
      return fused(pick(Inst::kIdVfnmadd132ps, Inst::kIdVfnmadd132pd),
                   pick(Inst::kIdVfnmadd213ps, Inst::kIdVfnmadd213pd),
                   pick(Inst::kIdVfnmadd231ps, Inst::kIdVfnmadd231pd));
    case VectorCode::kSqrt: return pick(Inst::kIdVsqrtps, Inst::kIdVsqrtpd);
    case VectorCode::kFloor:
    case VectorCode::kRoundEven:
      return wide_ ? pick(Inst::kIdVrndscaleps, Inst::kIdVrndscalepd) : pick(Inst::kIdVroundps, Inst::kIdVroundpd);
    case VectorCode::kShiftLeft: return pick(Inst::kIdVpslld, Inst::kIdVpsllq);
    case VectorCode::kShiftRight: return pick(Inst::kIdVpsrld, Inst::kIdVpsrlq);
    case VectorCode::kMergeBits: return pick(Inst::kIdVpternlogd, Inst::kIdVpternlogq);
    case VectorCode::kCompare: return pick(Inst::kIdVcmpps, Inst::kIdVcmppd);
    case VectorCode::kBlend:
      return wide_ ? pick(Inst::kIdVblendmps, Inst::kIdVblendmpd) : pick(Inst::kIdVblendvps, Inst::kIdVblendvpd);
    case VectorCode::kBlendZero:
      return wide_ ? pick(Inst::kIdVmovups, Inst::kIdVmovupd) : pick(Inst::kIdVandps, Inst::kIdVandpd);
    case VectorCode::kToIndex: return pick(Inst::kIdVcvttps2dq, Inst::kIdVcvttpd2dq);
    case VectorCode::kGather: return pick(Inst::kIdVgatherdps, Inst::kIdVgatherdpd);
  }
  throw std::logic_error("a vector code without an instruction");
}

void VectorAssembler::unary(VectorCode code, int to, const Operand& a, int detail) {
  const Id id = instruction(code);
  // Rounding modes: 8 and 9 are nearest-even and down, without the inexact exception.
  if (code == VectorCode::kFloor) {
    assembler_.emit(id, vector(to), a, asmjit::Imm(9));
  } else if (code == VectorCode::kRoundEven) {
    assembler_.emit(id, vector(to), a, asmjit::Imm(8));
  } else if (code == VectorCode::kShiftLeft || code == VectorCode::kShiftRight) {
    assembler_.emit(id, vector(to), a, asmjit::Imm(detail));
  } else if (code == VectorCode::kToIndex) {
    assembler_.emit(id, indices(to), a);
  } else {
    assembler_.emit(id, vector(to), a);
  }
}

void VectorAssembler::binary(VectorCode code, int to, int a, const Operand& b) {
  assembler_.emit(instruction(code), vector(to), vector(a), b);
}

void VectorAssembler::fused_into_factor(VectorCode code, int to, const Operand& factor, const Operand& addend) {
  if (factor.isMem()) {
    assembler_.emit(instruction(code, Fused::kMultiplyLast), vector(to), addend, factor);
  } else {
    assembler_.emit(instruction(code, Fused::kAddLast), vector(to), factor, addend);
  }
}

void VectorAssembler::fused_into_addend(VectorCode code, int to, int factor, const Operand& other_factor) {
  assembler_.emit(instruction(code, Fused::kIntoAddend), vector(to), vector(factor), other_factor);
}

void VectorAssembler::merge_bits(int overwritten, int to, int second, const Operand& third) {
  assembler_.emit(instruction(VectorCode::kMergeBits), vector(to), vector(second), third,
                  asmjit::Imm(kMergeTables[overwritten]));
}

void VectorAssembler::compare(Predicate predicate, int to_mask, int a, const Operand& b) {
  const Id id = instruction(VectorCode::kCompare);
  const asmjit::Imm how(static_cast<int>(predicate));
  if (wide_) {
    assembler_.emit(id, x86::k(static_cast<std::uint32_t>(to_mask)), vector(a), b, how);
  } else {
    assembler_.emit(id, vector(to_mask), vector(a), b, how);
  }
}

void VectorAssembler::blend(int to, int mask, const Operand& yes, int no) {
  const Id id = instruction(VectorCode::kBlend);
  if (wide_) {
    assembler_.k(x86::k(static_cast<std::uint32_t>(mask))).emit(id, vector(to), vector(no), yes);
  } else {
    assembler_.emit(id, vector(to), vector(no), yes, vector(mask));
  }
}

void VectorAssembler::blend_zero(int to, int mask, const Operand& yes) {
  if (!wide_) return binary(VectorCode::kBlendZero, to, mask, yes);
  assembler_.k(x86::k(static_cast<std::uint32_t>(mask))).z().emit(instruction(VectorCode::kBlendZero), vector(to), yes);
}

void VectorAssembler::blend_zero_constant(int to, int mask, int index) {
  if (!wide_) return blend_zero(to, mask, constant(index));
  assembler_.k(x86::k(static_cast<std::uint32_t>(mask))).z();
  load_constant(to, index);
}

// Element by element, a gather takes as long as dozens of operations, and the tables of lowered graphs are for
// arguments that hardly ever occur: all others read element 0. So the gather is jumped over if all lanes do.
void VectorAssembler::gather(int to, int index, int table, int scratch) {
  const int offset = table_offset_[size(table)] - middle().constant * constant_bytes();
  const x86::Vec where = indices(index);
  const asmjit::Label done = assembler_.newLabel();
  if (wide_) {
    assembler_.vptestmd(kGatherMask, where, where);
    assembler_.kortestw(kGatherMask, kGatherMask);
  } else {
    assembler_.vptest(where, where);
  }
  assembler_.emit(pick(Inst::kIdVbroadcastss, Inst::kIdVbroadcastsd), vector(to), x86::ptr(kConstants, offset));
  assembler_.jz(done);
  assembler_.lea(kAddress, x86::ptr(kConstants, offset));
  const Id id = instruction(VectorCode::kGather);
  const Memory memory = x86::ptr(kAddress, where, element_bytes_ == 4 ? 2 : 3);
  if (wide_) {
    assembler_.kxnorw(kGatherMask, kGatherMask, kGatherMask);  // all lanes
    assembler_.k(kGatherMask).emit(id, vector(to), memory);
  } else {
    assembler_.vpcmpeqd(vector(scratch), vector(scratch), vector(scratch));
    assembler_.emit(id, vector(to), memory, vector(scratch));
  }
  assembler_.bind(done);
}

}  // namespace cgpo
