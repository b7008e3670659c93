#include "cgpo/kernel/interpreter.hpp"

#include <algorithm>

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

// Numbers the values and gives each intermediate result a slot, free again after its last use. The slot freed last is
// used first: it is still in the nearest cache.
template <class Real>
InterpreterProgram<Real> assemble(const Graph& graph) {
  check(graph.precision() == precision_of<Real>() && graph.solves().empty(), "the interpreter runs a lowered graph");
  InterpreterProgram<Real> program;
  program.inputs = static_cast<int>(graph.inputs().size());
  program.outputs = static_cast<int>(graph.outputs().size());
  for (const TablePointer& table : graph.tables()) {
    program.table_values.emplace_back(table->begin(), table->end());
  }
  for (const auto& table : program.table_values)
    program.tables.push_back({table.data(), static_cast<int>(table.size())});

  const std::size_t count = graph.nodes().size();
  std::vector<int> last_use(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = graph.nodes()[i];
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int k = 0; k < arity(node.op); ++k) last_use[static_cast<std::size_t>(operands[k])] = static_cast<int>(i);
  }
  std::vector<int> value(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    if (graph.nodes()[i].op != Op::kConstant) continue;
    value[i] = static_cast<int>(program.constants.size());
    program.constants.push_back(static_cast<Real>(graph.nodes()[i].value));
  }
  for (int i = 0; i < program.inputs; ++i)
    value[static_cast<std::size_t>(graph.inputs()[static_cast<std::size_t>(i)])] = program.first_input() + i;
  // A result that is an output is computed where it belongs; one that is more than one output is copied later.
  std::vector<bool> written(static_cast<std::size_t>(program.outputs), false);
  for (int o = 0; o < program.outputs; ++o) {
    const auto node = static_cast<std::size_t>(graph.outputs()[static_cast<std::size_t>(o)]);
    if (value[node] < 0) {
      value[node] = program.first_output() + o;
      written[static_cast<std::size_t>(o)] = true;
    }
  }
  std::vector<int> free_slots;
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = graph.nodes()[i];
    if (arity(node.op) == 0) continue;
    const NodeId operands[] = {node.a, node.b, node.c};
    int names[3] = {0, 0, 0};
    for (int k = 0; k < arity(node.op); ++k) names[k] = value[static_cast<std::size_t>(operands[k])];
    if (node.op == Op::kLookup) names[1] = node.b;
    // A loop reads lane l before it writes it, so a result may take over the slot of an operand that ends here.
    for (int k = 0; k < arity(node.op); ++k) {
      const auto operand = static_cast<std::size_t>(operands[k]);
      if (last_use[operand] == static_cast<int>(i) && value[operand] >= program.first_slot()) {
        free_slots.push_back(value[operand]);
        last_use[operand] = -1;  // once, even if it is used twice
      }
    }
    if (value[i] < 0) {
      if (free_slots.empty()) {
        value[i] = program.first_slot() + program.slots++;
      } else {
        value[i] = free_slots.back();
        free_slots.pop_back();
      }
    }
    program.instructions.push_back({node.op, value[i], names[0], names[1], names[2]});
  }
  for (int o = 0; o < program.outputs; ++o) {
    if (written[static_cast<std::size_t>(o)]) continue;
    const int from = value[static_cast<std::size_t>(graph.outputs()[static_cast<std::size_t>(o)])];
    program.instructions.push_back({Op::kInput, program.first_output() + o, from, 0, 0});  // here: copy
  }
  return program;
}

}  // namespace

template <class Real>
Interpreter<Real>::Interpreter(const Graph& lowered, Isa isa)
    : Kernel<Real>(lowered), program_(assemble<Real>(lowered)), loop_(loop_for<Real>(isa)) {}

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
