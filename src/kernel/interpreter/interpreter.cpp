#include "cgpo/kernel/interpreter/interpreter.hpp"

#include <algorithm>
#include <utility>

#include "cgpo/base/error.hpp"

namespace cgpo {

#define CGPO_DECLARE_LOOPS(isa)                                                             \
  namespace isa {                                                                           \
  void run_block(const Instruction*, int, float* const*, const LookupTable<float>*, int);   \
  void run_block(const Instruction*, int, double* const*, const LookupTable<double>*, int); \
  }
CGPO_DECLARE_LOOPS(baseline)
#ifdef CGPO_X86
CGPO_DECLARE_LOOPS(avx2)
CGPO_DECLARE_LOOPS(avx512)
#endif
#undef CGPO_DECLARE_LOOPS

namespace {

template <class Real>
typename InterpreterProgram<Real>::Loop loop_for(Isa isa) {
#ifdef CGPO_X86
  if (isa == Isa::kAvx512) return avx512::run_block;
  if (isa == Isa::kAvx2) return avx2::run_block;
#endif
  static_cast<void>(isa);
  return baseline::run_block;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Numbers the values and gives each intermediate result a slot, free again after its last use. The slot freed last is
// used first: it is still in the nearest cache.
template <class Real>
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const Graph& graph)
      : graph_(graph), last_use_(graph.nodes().size(), -1), value_(graph.nodes().size(), -1) {
    check(graph.precision() == precision_of<Real>() && graph.solves().empty(), "the interpreter runs a lowered graph");
  }

  InterpreterProgram<Real> run() {
    copy_tables();
    find_last_uses();
    number_constants_and_inputs();
    number_outputs();
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (arity(graph_.nodes()[i].op) > 0) add_instruction(static_cast<int>(i));
    }
    copy_shared_outputs();
    return std::move(program_);
  }

 private:
  void copy_tables() {
    for (const TablePointer& table : graph_.tables()) program_.table_values.emplace_back(table->begin(), table->end());
    for (const auto& table : program_.table_values) {
      program_.tables.push_back({table.data(), static_cast<int>(table.size())});
    }
  }

  void find_last_uses() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      const NodeId operands[] = {node.a, node.b, node.c};
      for (int k = 0; k < arity(node.op); ++k) last_use_[at(operands[k])] = static_cast<int>(i);
    }
  }

  void number_constants_and_inputs() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (graph_.nodes()[i].op != Op::kConstant) continue;
      value_[i] = static_cast<int>(program_.constants.size());
      program_.constants.push_back(static_cast<Real>(graph_.nodes()[i].value));
    }
    program_.inputs = static_cast<int>(graph_.inputs().size());
    for (int i = 0; i < program_.inputs; ++i) value_[at(graph_.inputs()[at(i)])] = program_.first_input() + i;
  }

  // A result that is an output is computed where it belongs; one that is more than one output is copied later.
  void number_outputs() {
    program_.outputs = static_cast<int>(graph_.outputs().size());
    written_.assign(at(program_.outputs), false);
    for (int o = 0; o < program_.outputs; ++o) {
      int& value = value_[at(graph_.outputs()[at(o)])];
      if (value >= 0) continue;
      value = program_.first_output() + o;
      written_[at(o)] = true;
    }
  }

  void add_instruction(int id) {
    const Node& node = graph_.node(id);
    check(!is_transcendental(node.op), "a lowered graph holds no transcendentals");
    const NodeId operands[] = {node.a, node.b, node.c};
    int names[3] = {0, 0, 0};
    for (int k = 0; k < arity(node.op); ++k) names[k] = value_[at(operands[k])];
    if (node.op == Op::kLookup) names[1] = node.b;
    // A loop reads lane l before it writes it, so a result may take over the slot of an operand that ends here.
    for (int k = 0; k < arity(node.op); ++k) {
      if (last_use_[at(operands[k])] != id || names[k] < program_.first_slot()) continue;
      free_slots_.push_back(names[k]);
      last_use_[at(operands[k])] = -1;  // once, even if it is used twice
    }
    if (value_[at(id)] < 0) value_[at(id)] = take_slot();
    program_.instructions.push_back({node.op, value_[at(id)], names[0], names[1], names[2]});
  }

  int take_slot() {
    if (free_slots_.empty()) return program_.first_slot() + program_.slots++;
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  void copy_shared_outputs() {
    for (int o = 0; o < program_.outputs; ++o) {
      if (written_[at(o)]) continue;
      const int from = value_[at(graph_.outputs()[at(o)])];
      program_.instructions.push_back({Op::kInput, program_.first_output() + o, from, 0, 0});  // here: copy
    }
  }

  const Graph& graph_;
  InterpreterProgram<Real> program_;
  std::vector<int> last_use_;  // of a node: the last one that reads it
  std::vector<int> value_;     // of a node: what the program calls it
  std::vector<bool> written_;  // of an output: an instruction's result is made in it
  std::vector<int> free_slots_;
};

}  // namespace

template <class Real>
Interpreter<Real>::Interpreter(const Graph& lowered, Isa isa)
    : Kernel<Real>(lowered), program_(ProgramBuilder<Real>(lowered).run()), loop_(loop_for<Real>(isa)) {}

template <class Real>
void Interpreter<Real>::run(const Real* const* inputs, Real* const* outputs, int lanes, KernelScratch& scratch) const {
  constexpr int kBlock = InterpreterProgram<Real>::kBlock;
  // Rows a power of two apart would share the low bits of their addresses, and loads would wait for unrelated stores.
  constexpr int kStride = kBlock + static_cast<int>(64 / sizeof(Real));
  const auto constants = program_.constants.size();
  const std::size_t rows = constants + static_cast<std::size_t>(program_.slots);
  const std::size_t pointer_bytes = (static_cast<std::size_t>(program_.values()) * sizeof(Real*) + 63) / 64 * 64;
  std::byte* const memory = scratch.reserve(pointer_bytes + rows * kStride * sizeof(Real));
  auto* const pointers = reinterpret_cast<Real**>(memory);
  auto* const values = reinterpret_cast<Real*>(memory + pointer_bytes);

  const int width = std::min(lanes, kBlock);
  for (std::size_t i = 0; i < constants; ++i) {
    pointers[i] = values + i * kStride;
    std::fill_n(pointers[i], width, program_.constants[i]);
  }
  for (int i = 0; i < program_.slots; ++i) {
    pointers[program_.first_slot() + i] = values + (constants + static_cast<std::size_t>(i)) * kStride;
  }
  for (int begin = 0; begin < lanes; begin += kBlock) {
    for (int i = 0; i < program_.inputs; ++i)
      pointers[program_.first_input() + i] = const_cast<Real*>(inputs[i]) + begin;
    for (int i = 0; i < program_.outputs; ++i) pointers[program_.first_output() + i] = outputs[i] + begin;
    loop_(program_.instructions.data(), static_cast<int>(program_.instructions.size()), pointers,
          program_.tables.data(), std::min(kBlock, lanes - begin));
  }
}

template class Interpreter<float>;
template class Interpreter<double>;

}  // namespace cgpo
