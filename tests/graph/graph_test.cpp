// Tracing, folding and rewriting: the graph computes what the program says, to the bit.
#include "cgpo/graph/graph.hpp"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/numbers.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/lower.hpp"
#include "cgpo/graph/traced.hpp"

#include "random_program.hpp"

namespace cgpo {
namespace {

using testing::Flavour;
using testing::RandomProgram;

constexpr double kInf = std::numeric_limits<double>::infinity();

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(Graph, EqualExpressionsAreOneNode) {
  Graph graph;
  const auto x = trace_inputs(graph, 2);
  const Traced a = sin(x[0]) * x[1] + 2.0;
  const std::size_t size = graph.nodes().size();
  const Traced b = x[1] * sin(x[0]) + 2.0;
  EXPECT_EQ(a.id_in(graph), b.id_in(graph));
  EXPECT_EQ(graph.nodes().size(), size);
}

TEST(Graph, ConstantsFold) {
  Graph graph;
  const auto x = trace_inputs(graph, 1);
  const Traced folded = x[0] + (Traced(2.0) * 3.0 + sin(Traced(0.5)));
  EXPECT_EQ(graph.count_operations(), 1);
  trace_output(graph, folded);
  EXPECT_EQ(evaluate(graph, std::vector{1.0})[0], 1.0 + (6.0 + std::sin(0.5)));
}

// Each of these would be wrong for some NaN, infinity or signed zero if it were "simplified".
TEST(Graph, KeepsWhatHasAMeaningForSpecialValues) {
  struct Case {
    Traced (*expression)(const Traced&);
    double at, expected;
  };
  const Case cases[] = {
      {[](const Traced& x) { return x * 0.0; }, kInf, kNan},
      {[](const Traced& x) { return x - x; }, kInf, kNan},
      {[](const Traced& x) { return x / x; }, 0.0, kNan},
      {[](const Traced& x) { return 1.0 / (x + 0.0); }, -0.0, kInf},
      {[](const Traced& x) { return 1.0 / (0.0 - x); }, 0.0, kInf},
      {[](const Traced& x) { return x == x; }, kNan, 0.0},
      {[](const Traced& x) { return min(x, Traced(1.0)); }, kNan, 1.0},
      {[](const Traced& x) { return min(Traced(1.0), x); }, kNan, kNan},
  };
  for (const Case& c : cases) {
    Graph graph;
    const auto x = trace_inputs(graph, 1);
    trace_output(graph, c.expression(x[0]));
    EXPECT_TRUE(same(evaluate(graph, std::vector{c.at})[0], c.expected)) << "case " << (&c - cases);
  }
}

TEST(Graph, RemovesWhatIsExactlyRedundant) {
  Graph graph;
  const auto x = trace_inputs(graph, 1);
  for (const Traced& same_as_x : {x[0] * 1.0, 1.0 * x[0], x[0] / 1.0, x[0] - 0.0, x[0] + -0.0, -(-x[0])}) {
    EXPECT_EQ(same_as_x.id_in(graph), x[0].id_in(graph));
  }
}

// Random programs on random and on special values, node for node the same bits as plain double arithmetic.
TEST(Graph, WildProgramsKeepEveryBit) {
  const double special[] = {0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNan, 1e-310, -1e308, 0.5, 3.0, -2.5};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomProgram program(seed, 5, 60, 10, Flavour::kWild);
    const Graph graph = program.trace();
    RandomStream random(seed, Purpose::kTest, 1);
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> x(5);
      for (double& value : x) value = random.bits() % 2 == 0 ? special[random.below(12)] : random.uniform(-3.0, 3.0);
      const std::vector<double> naive = program.run<double>(std::span<const double>(x));
      const std::vector<double> traced = evaluate(graph, x);
      for (std::size_t i = 0; i < naive.size(); ++i) {
        ASSERT_TRUE(same(naive[i], traced[i]))
            << "seed " << seed << " output " << i << ": " << naive[i] << " " << traced[i];
      }
    }
  }
}

TEST(Graph, DeadCodeGoesAndInputsStay) {
  Graph graph;
  const auto x = trace_inputs(graph, 3);
  const Traced unused = exp(x[2]) * x[1];
  static_cast<void>(unused);
  trace_output(graph, x[0] + x[1]);
  const Graph small = remove_dead(lower(graph, Precision::kDouble));
  EXPECT_EQ(small.count_operations(), 1);
  EXPECT_EQ(small.inputs().size(), 3U);
}

TEST(Graph, FusesAProductWithItsOnlySum) {
  const auto operations = [](auto expression) {
    Graph graph;
    const auto x = trace_inputs(graph, 3);
    for (const Traced& output : expression(x)) trace_output(graph, output);
    const Graph ready = prepare(graph, Precision::kDouble);
    std::vector<Op> ops;
    for (const Node& node : ready.nodes()) {
      if (arity(node.op) > 0) ops.push_back(node.op);
    }
    return ops;
  };
  using List = std::vector<Traced>;
  EXPECT_EQ(operations([](const List& x) { return List{x[0] * x[1] + x[2]}; }), std::vector{Op::kFma});
  EXPECT_EQ(operations([](const List& x) { return List{x[0] * x[1] - x[2]}; }), std::vector{Op::kFms});
  EXPECT_EQ(operations([](const List& x) { return List{x[2] - x[0] * x[1]}; }), std::vector{Op::kFnma});
  EXPECT_EQ(operations([](const List& x) { return List{x[2] + -x[0] * x[1]}; }), std::vector{Op::kFnma});
  // Two uses: the product is needed anyway.
  EXPECT_EQ(operations([](const List& x) {
              return List{x[0] * x[1] + x[2], x[0] * x[1]};
            }),
            (std::vector{Op::kMul, Op::kAdd}));
}

TEST(Graph, FusedAndLoweredProgramsStayClose) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RandomProgram program(seed, 4, 150, 6, Flavour::kKinks);
    const Graph graph = program.trace();
    const Graph in_double = prepare(graph, Precision::kDouble);
    RandomStream random(seed, Purpose::kTest, 2);
    std::vector<double> x(4);
    for (double& value : x) value = random.uniform(-1.0, 1.0);
    const std::vector<double> exact = evaluate(graph, x);
    const std::vector<double> lowered = evaluate(in_double, x);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      ASSERT_NEAR(lowered[i], exact[i], 1e-9 * (1.0 + std::abs(exact[i]))) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cgpo
