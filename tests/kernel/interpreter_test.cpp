// The interpreter against the plain evaluation of the same lowered graph, to the bit, on every instruction set here.
#include "cgpo/kernel/interpreter/interpreter.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/lower.hpp"

#include "lanes.hpp"
#include "random_program.hpp"

namespace cgpo {
namespace {

using testing::Flavour;
using testing::Lanes;
using testing::RandomProgram;
using testing::same_bits;

std::vector<Isa> instruction_sets() {
  std::vector<Isa> sets;
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= best_isa()) sets.push_back(isa);
  }
  return sets;
}

template <class Real>
void compare(const Graph& graph, std::uint64_t seed, bool special) {
  const Graph lowered = prepare(graph, precision_of<Real>());
  const int inputs = static_cast<int>(lowered.inputs().size());
  const int outputs = static_cast<int>(lowered.outputs().size());
  static constexpr double kSpecial[] = {0.0,      -0.0,      1.0, -1.0,  1e30, -1e-30,
                                        INFINITY, -INFINITY, NAN, 100.5, -7.0, 1e-310};
  for (const Isa isa : instruction_sets()) {
    const Interpreter<Real> kernel(lowered, isa);
    KernelScratch scratch;
    RandomStream random(seed, Purpose::kTest, 9);
    for (const int lanes : {1, 3, 16, 31, 64, 128, 200}) {
      Lanes<Real> in(inputs, lanes, static_cast<int>(seed % 5));
      Lanes<Real> out(outputs, lanes, static_cast<int>(seed % 3));
      for (int i = 0; i < inputs; ++i) {
        for (int l = 0; l < lanes; ++l) {
          in.at(i, l) = static_cast<Real>(special && random.bits() % 3 == 0 ? kSpecial[random.below(12)]
                                                                            : random.uniform(-2.0, 2.0));
        }
      }
      kernel.run(in.const_rows(), out.rows(), lanes, scratch);
      EXPECT_TRUE(out.guards_intact());
      for (int l = 0; l<lanes; l += lanes> 20 ? 13 : 1) {
        std::vector<double> x;
        for (int i = 0; i < inputs; ++i) x.push_back(static_cast<double>(in.at(i, l)));
        const std::vector<double> expected = evaluate(lowered, x);
        for (int o = 0; o < outputs; ++o) {
          ASSERT_TRUE(same_bits(out.at(o, l), static_cast<Real>(expected[static_cast<std::size_t>(o)])))
              << isa_name(isa) << " seed " << seed << " lanes " << lanes << " lane " << l << " output " << o << ": "
              << out.at(o, l) << " instead of " << expected[static_cast<std::size_t>(o)];
        }
      }
    }
  }
}

TEST(Interpreter, RandomProgramsAreBitEqual) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Graph graph = RandomProgram(seed, 5, 40 + static_cast<int>(10 * seed), 8, Flavour::kKinks).trace();
    compare<float>(graph, seed, false);
    compare<double>(graph, seed, false);
  }
}

TEST(Interpreter, SpecialValuesAreBitEqual) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph wild = RandomProgram(seed, 6, 50, 12, Flavour::kWild).trace();
    compare<float>(wild, seed, true);
    compare<double>(wild, seed, true);
    const Graph smooth = RandomProgram(seed, 6, 30, 12, Flavour::kKinks).trace();
    compare<float>(smooth, seed, true);
    compare<double>(smooth, seed, true);
  }
}

TEST(Interpreter, DerivativesAreBitEqual) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Graph graph = RandomProgram(seed, 4, 120, 3, Flavour::kKinks).trace();
    const Graph reverse = differentiate(graph, {.seeds = {{0, 1}, {2}}, .wrt = {0, 1, 2, 3}, .keep_outputs = true});
    compare<float>(reverse, seed, false);
    compare<double>(reverse, seed, false);
  }
}

// Inputs, constants and one value under two names can be outputs too.
TEST(Interpreter, OutputsThatNeedNoComputation) {
  Graph graph;
  const auto x = trace_inputs(graph, 2);
  const Traced sum = x[0] + x[1];
  for (const Traced& output : {x[1], Traced(3.5), sum, sum, sum * x[0], x[1]}) trace_output(graph, output);
  compare<float>(graph, 0, true);
  compare<double>(graph, 1, true);
}

// A NaN in one lane, and the number of lanes, change nothing for the others.
TEST(Interpreter, LanesAreIndependent) {
  const Graph graph = RandomProgram(3, 4, 200, 5, Flavour::kKinks).trace();
  const auto kernel = compile<float>(graph);
  KernelScratch scratch;
  const int lanes = 150;
  Lanes<float> in(4, lanes, 0);
  RandomStream random(5, Purpose::kTest);
  for (int i = 0; i < 4; ++i) {
    for (int l = 0; l < lanes; ++l) in.at(i, l) = static_cast<float>(random.uniform(-1.0, 1.0));
  }
  Lanes<float> clean(5, lanes, 0);
  kernel->run(in.const_rows(), clean.rows(), lanes, scratch);
  for (int i = 0; i < 4; ++i) in.at(i, 77) = NAN;
  Lanes<float> poisoned(5, lanes, 0);
  kernel->run(in.const_rows(), poisoned.rows(), lanes, scratch);
  for (int l = 0; l < lanes; ++l) {
    Lanes<float> one_in(4, 1, 0);
    Lanes<float> one_out(5, 1, 0);
    for (int i = 0; i < 4; ++i) one_in.at(i, 0) = in.at(i, l);
    kernel->run(one_in.const_rows(), one_out.rows(), 1, scratch);
    for (int o = 0; o < 5; ++o) {
      EXPECT_TRUE(l == 77 || same_bits(poisoned.at(o, l), clean.at(o, l)));
      EXPECT_TRUE(same_bits(poisoned.at(o, l), one_out.at(o, 0)));
    }
  }
}

TEST(Interpreter, ThreadsShareAKernel) {
  const Graph graph = RandomProgram(4, 4, 100, 5, Flavour::kSmooth).trace();
  const auto kernel = compile<float>(graph);
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      KernelScratch scratch;
      Lanes<float> in(4, 64, 0);
      Lanes<float> out(5, 64, 0);
      for (int r = 0; r < 4; ++r) {
        for (int l = 0; l < 64; ++l) in.at(r, l) = 0.01F * static_cast<float>(r * l);
      }
      for (int repeat = 0; repeat < 50; ++repeat) kernel->run(in.const_rows(), out.rows(), 64, scratch);
      for (int o = 0; o < 5; ++o) results[i].push_back(out.at(o, 63));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results.front());
}

TEST(Interpreter, SlotsAreReused) {
  const Graph lowered = prepare(RandomProgram(1, 4, 2000, 4, Flavour::kSmooth).trace(), Precision::kFloat);
  const Interpreter<float> kernel(lowered);
  EXPECT_LT(kernel.slots(), kernel.operations() / 5);
}

}  // namespace
}  // namespace cgpo
