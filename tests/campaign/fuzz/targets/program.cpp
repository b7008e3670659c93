// Machine code against the interpreter, to the bit, on programs that the bytes write.
#include "cgpo/kernel/interpreter/interpreter.hpp"
#include "cgpo/kernel/x86/machine_kernel.hpp"

#include "fuzz.hpp"
#include "lanes.hpp"
#include "reference_operations.hpp"

using namespace cgpo;
using testing::kSpecialCount;
using testing::kSpecialValues;
using testing::Lanes;

namespace {

constexpr int kInputs = 4;

const std::vector<Op>& lowered_operations() {
  static const std::vector<Op> operations = [] {
    std::vector<Op> found;
    for (int i = 0; i < kOpCount; ++i) {
      const OpKind kind = op_info(static_cast<Op>(i)).kind;
      if (kind == OpKind::kArithmetic || kind == OpKind::kPrimitive) found.push_back(static_cast<Op>(i));
    }
    return found;
  }();
  return operations;
}

// Each operation takes four bytes: what it is, and how far back its operands lie.
Graph read_program(Precision precision, fuzz::Choices& choices) {
  Graph graph(precision);
  std::vector<NodeId> known;
  for (int i = 0; i < kInputs; ++i) known.push_back(graph.add_input());
  const NodeId low = graph.add_constant(-2.0);
  const auto& operations = lowered_operations();
  while (!choices.empty() && known.size() < 150) {
    const unsigned what = choices.byte();
    if (what >= 250) {
      known.push_back(graph.add_constant(choices.number()));
      continue;
    }
    if (what >= 244) {
      graph.add_output(known[known.size() - 1 - choices.below(static_cast<unsigned>(known.size()))]);
      continue;
    }
    const Op op = operations[what % operations.size()];
    const bool sees_bits = op == Op::kCopysign || op == Op::kPow2i || op == Op::kExponent || op == Op::kMantissa;
    NodeId operands[3];
    for (NodeId& operand : operands) {
      operand = known[known.size() - 1 - choices.below(static_cast<unsigned>(known.size()))];
      if (sees_bits) operand = graph.add(Op::kMax, operand, low);  // the bits of a NaN are free
    }
    const int count = arity(op);
    known.push_back(graph.add(op, operands[0], count > 1 ? operands[1] : kNoNode, count > 2 ? operands[2] : kNoNode));
  }
  graph.add_output(known.back());
  return graph;
}

template <class Real>
void compare(Precision precision, fuzz::Choices& choices) {
  const int lanes = 1 + static_cast<int>(choices.below(20));
  const unsigned spread = choices.byte();
  const Graph graph = read_program(precision, choices);
  const int outputs = static_cast<int>(graph.outputs().size());
  Lanes<Real> in(kInputs, lanes, 1);
  for (int i = 0; i < kInputs; ++i) {
    for (int l = 0; l < lanes; ++l) {
      const unsigned pick = (static_cast<unsigned>(l) * 7U + static_cast<unsigned>(i)) * (spread | 1U);
      in.at(i, l) = static_cast<Real>(kSpecialValues[pick % kSpecialCount]);
    }
  }
  KernelScratch scratch;
  Lanes<Real> expected(outputs, lanes, 0);
  Interpreter<Real>(graph).run(in.const_rows(), expected.rows(), lanes, scratch);
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa > best_isa()) continue;
    Lanes<Real> out(outputs, lanes, 2);
    MachineKernel<Real>(graph, isa).run(in.const_rows(), out.rows(), lanes, scratch);
    fuzz::require(out.guards_intact(), "nothing is written behind a row");
    for (int o = 0; o < outputs; ++o) {
      for (int l = 0; l < lanes; ++l) {
        fuzz::require(testing::same_bits(out.at(o, l), expected.at(o, l)), "machine code gives the interpreter's bits");
      }
    }
  }
}

}  // namespace

CGPO_FUZZ(input) {
  fuzz::Choices choices(input);
  if (choices.byte() % 2 == 0) {
    compare<float>(Precision::kFloat, choices);
  } else {
    compare<double>(Precision::kDouble, choices);
  }
}
