#include "cgpo/kernel/x86/code_generator.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/kernel/x86/register_file.hpp"
#include "cgpo/kernel/x86/vector_assembler.hpp"
#include "cgpo/kernel/x86/vector_program.hpp"

namespace cgpo {
namespace {

using Operand = VectorAssembler::Operand;
using Memory = VectorAssembler::Memory;

class CodeGenerator {
 public:
  CodeGenerator(const Graph& lowered, Isa isa)
      : program_(make_vector_program(lowered, isa)),
        assembler_(isa, lowered.precision()),
        places_(program_.values.size()),
        vectors_(0, assembler_.vector_registers()),
        masks_(1, 6) {}  // k0 means "no mask", k7 is the gathers'

  GeneratedCode run() {
    GeneratedCode result;
    result.constants = assembler_.lay_out_constants(program_);
    for (std::size_t v = 0; v < places_.size(); ++v) places_[v].next_use = program_.values[v].first_use;
    assembler_.begin_loop();
    for (now_ = 0; now_ < static_cast<int>(program_.steps.size()); ++now_) generate(program_.steps[at(now_)]);
    copy_outputs_without_steps();
    result.code = assembler_.end_loop();
    const auto middle = assembler_.middle();
    result.constants_middle = at(middle.constant * assembler_.constant_bytes());
    result.frame_bytes = at(std::max(slots_, middle.slot + 1) * assembler_.vector_bytes());
    result.frame_middle = at(middle.slot * assembler_.vector_bytes());
    result.statistics = statistics_;
    return result;
  }

 private:
  struct Place {
    int reg = -1;
    int slot = -1;
    int next_use = kNever;
    bool stored = false;  // in its output row
  };

  const VectorValue& info(int value) const { return program_.values[at(value)]; }
  Place& place(int value) { return places_[at(value)]; }
  bool in_register(int value) { return place(value).reg >= 0; }
  bool is_constant(int value) const { return info(value).kind == VectorValue::Kind::kConstant; }
  RegisterFile& file_of(int value) { return info(value).in_mask_register ? masks_ : vectors_; }
  bool in_memory(int value) {
    return info(value).kind != VectorValue::Kind::kResult || place(value).slot >= 0 || place(value).stored;
  }

  // Registers

  void give_up(int reg, RegisterFile& file) {
    const int value = file.value(reg);
    if (!in_memory(value)) {
      place(value).slot = take_slot();
      ++statistics_.spills;
      if (info(value).in_mask_register) {
        assembler_.store_mask(place(value).slot, reg);
      } else {
        assembler_.store(assembler_.frame(place(value).slot), reg);
      }
    }
    place(value).reg = -1;
  }

  // How long a value will not be missed. One that is in memory already costs no store: it counts twice.
  int distance(int value) {
    const int steps = std::min(place(value).next_use - now_, kNever / 2);
    return in_memory(value) ? 2 * steps : steps;
  }
  int furthest(RegisterFile& file, const VectorStep* spare) {
    return file.best(
        [&](int value) { return value < 0 || (spare != nullptr && is_source(*spare, value)) ? -1 : distance(value); });
  }

  // A register for `value`. The sources of `spare` keep theirs.
  int take_register(int value, const VectorStep* spare = nullptr) {
    RegisterFile& file = file_of(value);
    if (file.any_free()) return place(value).reg = file.take_free(value);
    const int reg = furthest(file, spare);
    give_up(reg, file);
    file.replace(reg, value);
    return place(value).reg = reg;
  }

  int take_slot() {
    if (free_slots_.empty()) return slots_++;
    const int slot = free_slots_.top();
    free_slots_.pop();
    return slot;
  }

  // Memory

  Memory in_memory_of(int value) {
    if (is_constant(value)) return assembler_.constant(info(value).index);
    if (info(value).kind == VectorValue::Kind::kInput) return assembler_.input(info(value).index);
    if (place(value).slot >= 0) return assembler_.frame(place(value).slot);
    check(place(value).stored, "a value is in a register or in memory");
    return assembler_.output(info(value).outputs.front());
  }

  void load_into(int reg, int value) {
    ++statistics_.reloads;
    if (info(value).in_mask_register) {
      assembler_.load_mask(reg, place(value).slot);
    } else if (is_constant(value)) {
      assembler_.load_constant(reg, info(value).index);
    } else {
      assembler_.load(reg, in_memory_of(value));
    }
  }

  void bring(int value, const VectorStep& step) {
    if (in_register(value)) return;
    const int reg = take_register(value, &step);
    load_into(reg, value);
  }

  // Sources

  static bool is_source(const VectorStep& step, int value) {
    return std::find(step.source, step.source + step.sources, value) != step.source + step.sources;
  }
  static bool occurs_twice(const VectorStep& step, int k) {
    for (int other = 0; other < step.sources; ++other) {
      if (other != k && step.source[other] == step.source[k]) return true;
    }
    return false;
  }

  // Whether a value that is read now should have a register for its later uses.
  bool worth_a_register(const VectorStep& step, int k) {
    const int next = step.next_use[k];
    if (next == kNever) return false;
    if (is_constant(step.source[k])) return false;
    if (vectors_.any_free()) return true;
    return next < place(vectors_.value(furthest(vectors_, &step))).next_use;
  }

  // Brings the sources into registers, but for one of those that the instruction can read from memory (a set of bits)
  // if it stays there. Returns which, or -1.
  int bring_sources(const VectorStep& step, unsigned readable) {
    int stays = -1;
    for (int k = 0; k < step.sources; ++k) {
      if (in_register(step.source[k]) || occurs_twice(step, k) || (readable >> k & 1U) == 0) continue;
      if (stays < 0 || better_in_memory(step, k, stays)) stays = k;
    }
    for (int k = 0; k < step.sources; ++k) {
      if (k != stays) bring(step.source[k], step);
    }
    if (stays >= 0 && worth_a_register(step, stays)) {
      bring(step.source[stays], step);
      stays = -1;
    }
    if (stays >= 0) ++statistics_.memory_operands;
    return stays;
  }

  bool better_in_memory(const VectorStep& step, int k, int than) const {
    const bool constant = is_constant(step.source[k]);
    if (constant != is_constant(step.source[than])) return constant;
    return step.next_use[k] > step.next_use[than];
  }

  // After this a source that is not used again has no register, but what it holds can still be read.
  void end_uses(const VectorStep& step) {
    for (int k = 0; k < step.sources; ++k) {
      Place& source = place(step.source[k]);
      source.next_use = step.next_use[k];
      if (source.next_use == kNever && source.reg >= 0) {
        file_of(step.source[k]).release(source.reg);
        source.reg = -1;
      }
    }
  }

  // Only after the instruction: what makes room for its result must not overwrite what it reads.
  void free_slots(const VectorStep& step) {
    for (int k = 0; k < step.sources; ++k) {
      Place& source = place(step.source[k]);
      if (source.next_use != kNever || source.slot < 0) continue;
      free_slots_.push(source.slot);
      source.slot = -1;
    }
  }

  void finish(const VectorStep& step) {
    free_slots(step);
    Place& result = place(step.result);
    for (const int row : info(step.result).outputs) {
      assembler_.store(assembler_.output(row), result.reg);
      result.stored = true;
    }
    if (result.next_use == kNever) {
      file_of(step.result).release(result.reg);
      result.reg = -1;
    }
  }

  // Steps

  struct Sources {
    int reg[3] = {-1, -1, -1};
    int in_memory = -1;
  };

  Sources read(const VectorStep& step, unsigned readable) {
    Sources sources;
    sources.in_memory = bring_sources(step, readable);
    for (int k = 0; k < step.sources; ++k) sources.reg[k] = place(step.source[k]).reg;
    return sources;
  }
  Operand operand(const VectorStep& step, const Sources& sources, int k) {
    if (k == sources.in_memory) return in_memory_of(step.source[k]);
    return assembler_.reg(sources.reg[k]);
  }

  void generate(const VectorStep& step) {
    ++statistics_.steps;
    switch (step.code) {
      case VectorCode::kAdd:
      case VectorCode::kMul:
      case VectorCode::kAnd:
      case VectorCode::kOr:
      case VectorCode::kXor: binary(step, 0b11); break;
      case VectorCode::kDiv: ++statistics_.divisions; [[fallthrough]];
      case VectorCode::kSub:
      case VectorCode::kMin:
      case VectorCode::kMax:
      case VectorCode::kAndNot: binary(step, 0b10); break;
      case VectorCode::kFma:
      case VectorCode::kFms:
      case VectorCode::kFnma: fused(step); break;
      case VectorCode::kSqrt: ++statistics_.divisions; [[fallthrough]];
      case VectorCode::kFloor:
      case VectorCode::kRoundEven:
      case VectorCode::kToIndex: unary(step, 0b1); break;
      case VectorCode::kShiftLeft:
      case VectorCode::kShiftRight: unary(step, 0); break;
      case VectorCode::kMergeBits: merge_bits(step); break;
      case VectorCode::kCompare: compare(step); break;
      case VectorCode::kBlend: blend(step); break;
      case VectorCode::kBlendZero: blend_zero(step); break;
      case VectorCode::kGather: gather(step); break;
    }
    finish(step);
  }

  void unary(const VectorStep& step, unsigned readable) {
    const Sources sources = read(step, readable);
    end_uses(step);
    const int to = take_register(step.result);
    assembler_.unary(step.code, to, operand(step, sources, 0), step.detail);
  }

  void binary(const VectorStep& step, unsigned readable) {
    const Sources sources = read(step, readable);
    const int first = sources.in_memory == 0 ? 1 : 0;
    end_uses(step);
    const int to = take_register(step.result);
    assembler_.binary(step.code, to, sources.reg[first], operand(step, sources, 1 - first));
  }

  void compare(const VectorStep& step) {
    const Sources sources = read(step, 0b11);
    const int first = sources.in_memory == 0 ? 1 : 0;
    const auto predicate = static_cast<Predicate>(step.detail);
    end_uses(step);
    const int to = take_register(step.result);
    assembler_.compare(first == 0 ? predicate : with_swapped_operands(predicate), to, sources.reg[first],
                       operand(step, sources, 1 - first));
  }

  void blend(const VectorStep& step) {
    const Sources sources = read(step, 0b010);
    end_uses(step);
    const int to = take_register(step.result);
    assembler_.blend(to, sources.reg[0], operand(step, sources, 1), sources.reg[2]);
  }

  void blend_zero(const VectorStep& step) {
    const Sources sources = read(step, 0b010);
    end_uses(step);
    const int to = take_register(step.result);
    if (sources.in_memory == 1 && is_constant(step.source[1])) {
      assembler_.blend_zero_constant(to, sources.reg[0], info(step.source[1]).index);
    } else {
      assembler_.blend_zero(to, sources.reg[0], operand(step, sources, 1));
    }
  }

  void gather(const VectorStep& step) {
    const Sources sources = read(step, 0);
    int scratch = -1;
    if (!assembler_.wide()) {
      // A register that no value has: the result's is taken beside it, and only then can it be used again.
      scratch = vectors_.any_free() ? vectors_.take_free(RegisterFile::kEmpty) : furthest(vectors_, &step);
      if (vectors_.value(scratch) >= 0) give_up(scratch, vectors_);
      vectors_.replace(scratch, RegisterFile::kEmpty);
    }
    const int to = take_register(step.result, &step);
    assembler_.gather(to, sources.reg[0], step.detail, scratch);
    if (scratch >= 0) vectors_.release(scratch);
    end_uses(step);
  }

  // The register that an instruction overwrites has to hold one of its sources: one that is not used again, else the
  // one whose register would be taken anyway, else a copy. Returns which source it is; the result has its register.
  int overwrite_source(const VectorStep& step, const Sources& sources) {
    end_uses(step);
    for (int k = step.sources - 1; k >= 0; --k) {
      if (sources.reg[k] < 0 || in_register(step.source[k])) continue;
      vectors_.take(sources.reg[k], step.result);
      place(step.result).reg = sources.reg[k];
      return k;
    }
    const int to = take_register(step.result);
    for (int k = 0; k < step.sources; ++k) {
      if (sources.reg[k] == to) return k;
    }
    const int copied = sources.in_memory == 0 ? 1 : 0;
    ++statistics_.moves;
    assembler_.move(to, sources.reg[copied]);
    return copied;
  }

  void merge_bits(const VectorStep& step) {
    const Sources sources = read(step, 0b100);
    const int overwritten = overwrite_source(step, sources);
    const int second = overwritten == 0 ? 1 : 0;
    const int third = overwritten == 2 ? 1 : 2;
    assembler_.merge_bits(overwritten, place(step.result).reg, sources.reg[second], operand(step, sources, third));
  }

  void fused(const VectorStep& step) {
    const Sources sources = read(step, 0b111);
    const int overwritten = overwrite_source(step, sources);
    const int to = place(step.result).reg;
    if (overwritten == 2) {
      const int first = sources.in_memory == 0 ? 1 : 0;
      assembler_.fused_into_addend(step.code, to, sources.reg[first], operand(step, sources, 1 - first));
    } else {
      const int factor = 1 - overwritten;
      // At most one of the two is in memory, so no address is overwritten by the other's.
      const Operand other = operand(step, sources, factor);
      assembler_.fused_into_factor(step.code, to, other, operand(step, sources, 2));
    }
  }

  void copy_outputs_without_steps() {
    for (std::size_t v = 0; v < places_.size(); ++v) {
      const int value = static_cast<int>(v);
      if (info(value).kind == VectorValue::Kind::kResult) continue;
      for (const int row : info(value).outputs) {
        load_into(0, value);  // nothing is in use any more
        assembler_.store(assembler_.output(row), 0);
      }
    }
  }

  VectorProgram program_;
  VectorAssembler assembler_;
  std::vector<Place> places_;
  RegisterFile vectors_;
  RegisterFile masks_;
  // The lowest is used first: they have the short addresses, and the frame stays dense.
  std::priority_queue<int, std::vector<int>, std::greater<>> free_slots_;
  int slots_ = 0;
  int now_ = 0;
  CodeStatistics statistics_;
};

}  // namespace

GeneratedCode generate_code(const Graph& lowered, Isa isa) { return CodeGenerator(lowered, isa).run(); }

}  // namespace cgpo
