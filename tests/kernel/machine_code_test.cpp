// Machine code against the interpreter, to the bit.
#include <gtest/gtest.h>
#include <memory>
#include <thread>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/lower.hpp"
#include "cgpo/kernel/interpreter/interpreter.hpp"
#include "cgpo/kernel/x86/machine_kernel.hpp"

#include "lanes.hpp"
#include "random_program.hpp"
#include "reference_operations.hpp"

namespace cgpo {
namespace {

using testing::Flavour;
using testing::kSpecialCount;
using testing::kSpecialValues;
using testing::Lanes;
using testing::RandomProgram;
using testing::same_bits;

std::vector<Isa> machine_code_sets() {
  std::vector<Isa> sets;
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= best_isa()) sets.push_back(isa);
  }
  return sets;
}

template <class Real>
void fill(Lanes<Real>& rows, int count, int lanes, RandomStream& random, bool special) {
  for (int i = 0; i < count; ++i) {
    for (int l = 0; l < lanes; ++l) {
      const bool odd = special && random.bits() % 3 == 0;
      rows.at(i, l) = static_cast<Real>(odd ? kSpecialValues[random.below(kSpecialCount)] : random.uniform(-2.0, 2.0));
    }
  }
}

// Every backend on the same rows, which begin `offset` elements behind an aligned address.
template <class Real>
void expect_same(const Graph& lowered, std::span<const int> lane_counts, std::uint64_t seed, bool special) {
  const int inputs = static_cast<int>(lowered.inputs().size());
  const int outputs = static_cast<int>(lowered.outputs().size());
  const Interpreter<Real> interpreter(lowered);
  for (const Isa isa : machine_code_sets()) {
    const MachineKernel<Real> kernel(lowered, isa);
    KernelScratch scratch;
    RandomStream random(seed, Purpose::kTest, 3);
    for (const int lanes : lane_counts) {
      const int offset = lanes % 7;
      Lanes<Real> in(inputs, lanes, offset);
      Lanes<Real> expected(outputs, lanes, 0);
      Lanes<Real> out(outputs, lanes, offset);
      fill(in, inputs, lanes, random, special);
      interpreter.run(in.const_rows(), expected.rows(), lanes, scratch);
      kernel.run(in.const_rows(), out.rows(), lanes, scratch);
      ASSERT_TRUE(out.guards_intact());
      for (int o = 0; o < outputs; ++o) {
        for (int l = 0; l < lanes; ++l) {
          ASSERT_TRUE(same_bits(out.at(o, l), expected.at(o, l)))
              << isa_name(isa) << " seed " << seed << " lanes " << lanes << " lane " << l << " output " << o << ": "
              << out.at(o, l) << " instead of " << expected.at(o, l);
        }
      }
    }
  }
}

void expect_same_in_both(const Graph& graph, std::span<const int> lane_counts, std::uint64_t seed, bool special) {
  expect_same<float>(prepare(graph, Precision::kFloat), lane_counts, seed, special);
  expect_same<double>(prepare(graph, Precision::kDouble), lane_counts, seed, special);
}

bool in_lowered_graphs(Op op) {
  return op_info(op).kind == OpKind::kArithmetic || op_info(op).kind == OpKind::kPrimitive;
}

NodeId add_operation(Graph& graph, Op op, const NodeId* operands) {
  return graph.add(op, operands[0], arity(op) > 1 ? operands[1] : kNoNode, arity(op) > 2 ? operands[2] : kNoNode);
}

// All combinations of special values, one a lane; operands come from rows, constants, results, and are one another.
template <class Real>
void every_operation(Precision precision) {
  const int lanes = kSpecialCount * kSpecialCount * kSpecialCount;
  Lanes<Real> in(3, lanes, 1);
  for (int l = 0; l < lanes; ++l) {
    in.at(0, l) = static_cast<Real>(kSpecialValues[l % kSpecialCount]);
    in.at(1, l) = static_cast<Real>(kSpecialValues[l / kSpecialCount % kSpecialCount]);
    in.at(2, l) = static_cast<Real>(kSpecialValues[l / kSpecialCount / kSpecialCount]);
  }
  for (int number = 0; number < kOpCount; ++number) {
    const Op op = static_cast<Op>(number);
    if (!in_lowered_graphs(op)) continue;
    Graph graph(precision);
    const NodeId row[] = {graph.add_input(), graph.add_input(), graph.add_input()};
    const NodeId result[] = {graph.add(Op::kAdd, row[0], row[0]), graph.add(Op::kAdd, row[1], row[1]),
                             graph.add(Op::kAdd, row[2], row[2])};
    for (int kinds = 0; kinds < (arity(op) == 3 ? 64 : arity(op) == 2 ? 16 : 4); ++kinds) {
      NodeId operands[3];
      for (int k = 0; k < 3; ++k) {
        const int kind = kinds >> (2 * k) & 3;
        operands[k] = kind == 0   ? row[k]
                      : kind == 1 ? result[k]
                      : kind == 2 ? graph.add_constant(k == 1 ? 0.0 : 2.75 + k)
                                  : row[0];
      }
      graph.add_output(add_operation(graph, op, operands));
    }
    const int outputs = static_cast<int>(graph.outputs().size());
    KernelScratch scratch;
    Lanes<Real> expected(outputs, lanes, 0);
    Interpreter<Real>(graph).run(in.const_rows(), expected.rows(), lanes, scratch);
    for (const Isa isa : machine_code_sets()) {
      Lanes<Real> out(outputs, lanes, 2);
      MachineKernel<Real>(graph, isa).run(in.const_rows(), out.rows(), lanes, scratch);
      int wrong = 0;
      for (int o = 0; o < outputs && wrong < 5; ++o) {
        for (int l = 0; l < lanes && wrong < 5; ++l) {
          if (same_bits(out.at(o, l), expected.at(o, l))) continue;
          ++wrong;
          ADD_FAILURE() << op_name(op) << " " << isa_name(isa) << " form " << o << " of " << in.at(0, l) << ", "
                        << in.at(1, l) << ", " << in.at(2, l) << ": " << out.at(o, l) << " instead of "
                        << expected.at(o, l);
        }
      }
    }
  }
}

TEST(MachineCode, EveryOperationOnSpecialValuesInFloat) { every_operation<float>(Precision::kFloat); }
TEST(MachineCode, EveryOperationOnSpecialValuesInDouble) { every_operation<double>(Precision::kDouble); }

TEST(MachineCode, TablesAreReadInsideTheirBounds) {
  const auto table = std::make_shared<const std::vector<double>>(std::vector<double>{3.5, -1.0, 7.25, 0.5, 11.0});
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    Graph graph(precision);
    const NodeId x = graph.add_input();
    const NodeId twice = graph.add(Op::kAdd, x, x);
    const NodeId found = graph.add_lookup(table, x);
    graph.add_output(found);
    graph.add_output(graph.add(Op::kMul, graph.add_lookup(table, twice), found));
    graph.add_output(graph.add(Op::kSub, twice, x));
    const int counts[] = {5, 100, 333};
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      if (precision == Precision::kFloat) {
        expect_same<float>(graph, counts, seed, true);
      } else {
        expect_same<double>(graph, counts, seed, true);
      }
    }
  }
}

TEST(MachineCode, EveryNumberOfLanes) {
  const Graph graph = RandomProgram(3, 5, 150, 8, Flavour::kKinks).trace();
  std::vector<int> counts;
  for (int lanes = 0; lanes <= 40; ++lanes) counts.push_back(lanes);
  expect_same_in_both(graph, counts, 1, true);
}

TEST(MachineCode, RandomProgramsAreBitEqual) {
  const int counts[] = {3, 64, 77};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const int operations = 30 + static_cast<int>(10 * seed);
    expect_same_in_both(RandomProgram(seed, 5, operations, 8, Flavour::kKinks).trace(), counts, seed, seed % 2 == 0);
    expect_same_in_both(RandomProgram(seed, 6, operations, 12, Flavour::kWild).trace(), counts, seed, true);
  }
}

TEST(MachineCode, DerivativesAreBitEqual) {
  const int counts[] = {32, 41};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Graph graph = RandomProgram(seed, 4, 120, 3, Flavour::kKinks).trace();
    const Graph reverse = differentiate(graph, {.seeds = {{0, 1}, {2}}, .wrt = {0, 1, 2, 3}, .keep_outputs = true});
    expect_same_in_both(reverse, counts, seed, false);
  }
}

// A graph of any size whose operands may lie far back, so that many values are alive at once. Values are kept within
// ±2 often enough to stay different from one another.
Graph crowded_graph(std::uint64_t seed, Precision precision, int operations) {
  RandomStream random(seed, Purpose::kTest, 17);
  Graph graph(precision);
  std::vector<NodeId> known;
  for (int i = 0; i < 12; ++i) known.push_back(graph.add_input());
  for (int i = 0; i < 6; ++i) known.push_back(graph.add_constant(random.uniform(-2.0, 2.0)));
  const NodeId low = graph.add_constant(-2.0);
  const NodeId high = graph.add_constant(2.0);
  const auto reach = static_cast<std::uint32_t>(1) << (2 + random.below(11));  // 4 … 4096: the register pressure
  const auto pick = [&] {
    const auto back = random.below(std::min(static_cast<std::uint32_t>(known.size()), reach));
    return known[known.size() - 1 - back];
  };
  static constexpr Op kOften[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kFma, Op::kFms, Op::kFnma};
  for (int i = 0; i < operations; ++i) {
    Op op = kOften[random.below(6)];
    if (random.bits() % 5 == 0) {
      do op = static_cast<Op>(random.below(static_cast<std::uint32_t>(kOpCount)));
      while (!in_lowered_graphs(op));
    }
    NodeId operands[] = {pick(), random.bits() % 16 == 0 ? known[12 + random.below(6)] : pick(), pick()};
    if (op == Op::kCopysign || op == Op::kPow2i || op == Op::kExponent || op == Op::kMantissa) {
      // These look at the bits, and those of a NaN are free.
      for (NodeId& operand : operands) operand = graph.add(Op::kMax, operand, low);
    }
    NodeId made = add_operation(graph, op, operands);
    if (random.bits() % 3 == 0) made = graph.add(Op::kMin, graph.add(Op::kMax, made, low), high);
    known.push_back(made);
    if (random.bits() % 50 == 0) graph.add_output(made);
  }
  for (int i = 0; i < 20; ++i) graph.add_output(known[random.below(static_cast<std::uint32_t>(known.size()))]);
  for (int i = 0; i < 18; i += 5) graph.add_output(known[static_cast<std::size_t>(i)]);  // inputs and constants
  graph.add_output(graph.outputs().front());
  return graph;
}

TEST(MachineCode, CrowdedGraphsAreBitEqual) {
  const int counts[] = {16, 37};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int operations = seed % 10 == 0 ? 10000 : 1 << (seed % 12);
    expect_same<float>(crowded_graph(seed, Precision::kFloat, operations), counts, seed, true);
    expect_same<double>(crowded_graph(seed, Precision::kDouble, operations), counts, seed, true);
    if (HasFatalFailure()) return;
  }
}

// The test above means something only if it runs out of registers.
TEST(MachineCode, CrowdedGraphsAreCrowded) {
  for (const Isa isa : machine_code_sets()) {
    int spilling = 0;
    for (std::uint64_t seed = 0; seed < 60; seed += 10) {
      const MachineKernel<float> kernel(crowded_graph(seed, Precision::kFloat, 10000), isa);
      if (kernel.statistics().spills > 500) ++spilling;
    }
    EXPECT_GE(spilling, 3);
  }
}

TEST(MachineCode, ThreadsShareAKernel) {
  const Graph graph = prepare(RandomProgram(4, 4, 100, 5, Flavour::kSmooth).trace(), Precision::kFloat);
  for (const Isa isa : machine_code_sets()) {
    const MachineKernel<float> kernel(graph, isa);
    std::vector<std::vector<float>> results(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i] {
        KernelScratch scratch;
        Lanes<float> in(4, 70, 0);
        Lanes<float> out(5, 70, 0);
        for (int r = 0; r < 4; ++r) {
          for (int l = 0; l < 70; ++l) in.at(r, l) = 0.01F * static_cast<float>(r * l);
        }
        for (int repeat = 0; repeat < 200; ++repeat) kernel.run(in.const_rows(), out.rows(), 70, scratch);
        for (int o = 0; o < 5; ++o) {
          for (int l = 0; l < 70; ++l) results[i].push_back(out.at(o, l));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_EQ(result, results.front());
  }
}

}  // namespace
}  // namespace cgpo
