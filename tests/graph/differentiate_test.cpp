// Derivatives against central differences, and reverse against forward mode.
#include "cgpo/graph/differentiate.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

#include "cgpo/base/numbers.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/solve.hpp"

#include "random_program.hpp"

namespace cgpo {
namespace {

using testing::Flavour;
using testing::RandomProgram;

std::vector<int> all(std::size_t count) {
  std::vector<int> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

std::vector<double> join(std::initializer_list<std::span<const double>> parts) {
  std::vector<double> result;
  for (const auto part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

std::vector<double> random_vector(RandomStream& random, std::size_t size, double width = 1.0) {
  std::vector<double> v(size);
  for (double& value : v) value = random.uniform(-width, width);
  return v;
}

// Σ w_o y_o along x + s·d, differentiated at s = 0 to fourth order.
double difference(const Graph& graph, std::span<const double> x, std::span<const double> direction,
                  std::span<const double> weights, double step) {
  const auto at = [&](double s) {
    std::vector<double> moved(x.begin(), x.end());
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += s * direction[i];
    return dot(evaluate(graph, moved), weights);
  };
  return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
}

struct Derivatives {
  double reverse, forward;
  double scale;  // size of what was summed up
};

Derivatives derivatives(const Graph& graph, std::span<const double> x, std::span<const double> direction,
                        std::span<const double> weights) {
  const Graph reverse =
      differentiate(graph, {.seeds = {all(graph.outputs().size())}, .wrt = all(graph.inputs().size())});
  const Graph forward = differentiate_forward(graph);
  const std::vector<double> gradient = evaluate(reverse, join({x, weights}));
  const std::vector<double> tangent = evaluate(forward, join({x, direction}));
  double scale = 1e-300;
  for (std::size_t i = 0; i < gradient.size(); ++i) scale += std::abs(gradient[i] * direction[i]);
  for (std::size_t i = 0; i < tangent.size(); ++i) scale += std::abs(tangent[i] * weights[i]);
  return {dot(gradient, direction), dot(tangent, weights), scale};
}

TEST(Differentiate, EveryOperation) {
  using Expression = std::function<Traced(const std::vector<Traced>&)>;
  const std::vector<std::pair<const char*, Expression>> expressions = {
      {"add", [](const auto& x) { return x[0] + x[1]; }},
      {"sub", [](const auto& x) { return x[0] - x[1]; }},
      {"mul", [](const auto& x) { return x[0] * x[1]; }},
      {"square", [](const auto& x) { return x[0] * x[0]; }},
      {"div", [](const auto& x) { return x[0] / x[1]; }},
      {"neg", [](const auto& x) { return -x[0]; }},
      {"fma", [](const auto& x) { return fma(x[0], x[1], x[2]); }},
      {"fms", [](const auto& x) { return Traced::make(Op::kFms, x[0], x[1], x[2]); }},
      {"fnma", [](const auto& x) { return Traced::make(Op::kFnma, x[0], x[1], x[2]); }},
      {"sqrt", [](const auto& x) { return sqrt(x[0]); }},
      {"rsqrt", [](const auto& x) { return rsqrt(x[0]); }},
      {"reciprocal", [](const auto& x) { return reciprocal(x[0]); }},
      {"sin", [](const auto& x) { return sin(x[0]); }},
      {"cos", [](const auto& x) { return cos(x[0]); }},
      {"tan", [](const auto& x) { return tan(x[0]); }},
      {"atan2", [](const auto& x) { return atan2(x[0], x[1]); }},
      {"atan2 left", [](const auto& x) { return atan2(-x[0], -x[1]); }},
      {"exp", [](const auto& x) { return exp(x[0]); }},
      {"log", [](const auto& x) { return log(x[0]); }},
      {"tanh", [](const auto& x) { return tanh(x[0]); }},
      {"floor", [](const auto& x) { return floor(x[0] * 0.0 + 0.5) + x[1]; }},
      {"abs", [](const auto& x) { return abs(x[0] - x[1]); }},
      {"min", [](const auto& x) { return min(x[0], x[1]) + min(x[2], x[0]); }},
      {"max", [](const auto& x) { return max(x[0], x[1]) + max(x[2], x[0]); }},
      {"select", [](const auto& x) { return select(x[0] < x[1], x[2] * x[0], x[1] * x[1]); }},
      {"select on equal", [](const auto& x) { return select(x[0] <= x[1], x[2], x[1]); }},
      {"constant", [](const auto& x) { return 0.0 * x[0] + 3.0; }},
  };
  RandomStream random(1, Purpose::kTest);
  for (const auto& [name, expression] : expressions) {
    Graph graph;
    const auto x = trace_inputs(graph, 3);
    trace_output(graph, expression(x));
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> at(3);
      for (double& value : at) value = random.uniform(0.2, 1.3);
      const std::vector<double> direction = random_vector(random, 3);
      const std::vector<double> weight = {1.0};
      const Derivatives d = derivatives(graph, at, direction, weight);
      const double expected = difference(graph, at, direction, weight, 1e-4);
      EXPECT_NEAR(d.reverse, expected, 1e-6 * std::max(d.scale, 1e-3)) << name;
      EXPECT_NEAR(d.forward, d.reverse, 1e-12 * d.scale) << name;
    }
  }
}

TEST(Differentiate, RandomProgramsAgreeWithDifferences) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomProgram program(seed, 6, 100 + static_cast<int>(seed), 5, Flavour::kSmooth);
    const Graph graph = program.trace();
    RandomStream random(seed, Purpose::kTest, 1);
    const std::vector<double> x = random_vector(random, 6);
    const std::vector<double> direction = random_vector(random, 6);
    const std::vector<double> weights = random_vector(random, 5);
    const Derivatives d = derivatives(graph, x, direction, weights);
    // The step adapts to how fast the program bends: of a few, the best must reach the bound.
    double best = 1e300;
    for (const double step : {1e-3, 3e-4, 1e-4, 3e-5, 1e-5}) {
      best = std::min(best, std::abs(difference(graph, x, direction, weights, step) - d.reverse) / d.scale);
    }
    EXPECT_LT(best, 1e-6) << "seed " << seed;
    EXPECT_NEAR(d.forward, d.reverse, 1e-12 * d.scale) << "seed " << seed;
  }
}

TEST(Differentiate, RandomProgramsWithKinks) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomProgram program(seed, 6, 200, 5, Flavour::kKinks);
    const Graph graph = program.trace();
    RandomStream random(seed, Purpose::kTest, 1);
    const std::vector<double> x = random_vector(random, 6);
    const std::vector<double> direction = random_vector(random, 6);
    const std::vector<double> weights = random_vector(random, 5);
    const Derivatives d = derivatives(graph, x, direction, weights);
    EXPECT_NEAR(d.forward, d.reverse, 1e-12 * d.scale) << "seed " << seed;
    // Where a kink lies within the stencil differences say nothing; that is rare.
    const double wide = difference(graph, x, direction, weights, 1e-5);
    const double narrow = difference(graph, x, direction, weights, 5e-6);
    if (std::abs(wide - narrow) > 1e-6 * d.scale) continue;
    ++compared;
    EXPECT_NEAR(wide, d.reverse, 2e-6 * d.scale) << "seed " << seed;
  }
  EXPECT_GT(compared, 180);
}

TEST(Differentiate, SeedsTogetherEqualSeedsAlone) {
  const RandomProgram program(7, 6, 200, 5, Flavour::kKinks);
  const Graph graph = program.trace();
  RandomStream random(7, Purpose::kTest, 1);
  const std::vector<double> x = random_vector(random, 6);
  const std::vector<std::vector<int>> seeds = {{0, 1, 2}, {3}, {4, 0}};
  const std::vector<double> weights = random_vector(random, 6);
  const Graph together = differentiate(graph, {.seeds = seeds, .wrt = all(6), .keep_outputs = true});
  const std::vector<double> result = evaluate(together, join({x, weights}));
  const std::vector<double> values = evaluate(graph, x);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), result.begin()));
  std::size_t weight = 0;
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    const Graph alone = differentiate(graph, {.seeds = {seeds[k]}, .wrt = all(6)});
    const std::vector<double> expected =
        evaluate(alone, join({x, std::span(weights).subspan(weight, seeds[k].size())}));
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(result[values.size() + 6 * k + i], expected[i]);
    weight += seeds[k].size();
  }
}

// An infinite slope on the branch not taken must not leak into the sum as NaN.
TEST(Differentiate, SelectCutsTheOtherBranch) {
  Graph graph;
  const auto x = trace_inputs(graph, 1);
  trace_output(graph, select(x[0] > 0.0, sqrt(x[0]), x[0] * 2.0));
  const Graph reverse = differentiate(graph, {.seeds = {{0}}, .wrt = {0}});
  EXPECT_EQ(evaluate(reverse, std::vector{4.0, 1.0})[0], 0.25);
  // The guarded form is the user's part (design: both branches stay finite); a select on the argument does it.
  Graph guarded;
  const auto y = trace_inputs(guarded, 1);
  trace_output(guarded, select(y[0] > 0.0, sqrt(select(y[0] > 0.0, y[0], 1.0)), y[0] * 2.0));
  const Graph slope = differentiate(guarded, {.seeds = {{0}}, .wrt = {0}});
  EXPECT_EQ(evaluate(slope, std::vector{-1.0, 1.0})[0], 2.0);
}

// ---- linear systems ------------------------------------------------------------------------------------------------

// A tree-shaped or dense positive definite matrix whose entries are functions of the inputs, and A⁻¹ b.
Graph trace_solve(int n, bool tree, std::uint64_t seed) {
  RandomStream random(seed, Purpose::kTest, 3);
  std::vector<int> parent(static_cast<std::size_t>(n), -1);
  for (int i = 1; i < n; ++i)
    parent[static_cast<std::size_t>(i)] = static_cast<int>(random.below(static_cast<std::uint32_t>(i)));
  Graph graph;
  const auto x = trace_inputs(graph, 4);
  SymmetricMatrix<Traced> matrix(n);
  for (int i = 0; i < n; ++i) {
    matrix(i, i) = n + sin(x[0] + 0.3 * i);
    if (tree) {
      for (int j = parent[static_cast<std::size_t>(i)]; j >= 0; j = parent[static_cast<std::size_t>(j)])
        matrix(i, j) = 0.8 * cos(x[1] * (i + 1.0) - j);
    } else {
      for (int j = 0; j < i; ++j) matrix(i, j) = 0.8 * cos(x[1] * (i + 1.0) - j);
    }
  }
  std::vector<Traced> rhs;
  for (int i = 0; i < n; ++i) rhs.push_back(i % 3 == 2 ? Traced(0.0) : sin(x[2] * (1.0 + i)) + x[3]);
  trace_outputs(graph, solve_symmetric(matrix, rhs));
  return graph;
}

TEST(Solve, SolvesAndDifferentiates) {
  for (const bool tree : {true, false}) {
    for (const int n : {1, 2, 5, 9, 14}) {
      const Graph graph = trace_solve(n, tree, static_cast<std::uint64_t>(n));
      RandomStream random(static_cast<std::uint64_t>(n), Purpose::kTest, 4);
      const std::vector<double> x = random_vector(random, 4);
      const std::vector<double> direction = random_vector(random, 4);
      const std::vector<double> weights = random_vector(random, static_cast<std::size_t>(n));
      const Derivatives d = derivatives(graph, x, direction, weights);
      EXPECT_NEAR(d.reverse, difference(graph, x, direction, weights, 1e-3), 1e-9 * d.scale) << n << tree;
      EXPECT_NEAR(d.forward, d.reverse, 1e-12 * d.scale);
    }
  }
}

TEST(Solve, TreesHaveNoFill) {
  // A chain of branches: L has exactly the pattern of A, so a star costs a multiply-add a branch, not n².
  Graph graph;
  const auto x = trace_inputs(graph, 1);
  const int n = 20;
  SymmetricMatrix<Traced> matrix(n);
  for (int i = 0; i < n; ++i) {
    matrix(i, i) = 3.0 + x[0] * (i + 1.0);
    if (i > 0) matrix(i, 0) = x[0];
  }
  const std::vector<Traced> rhs(n, x[0]);
  solve_symmetric(matrix, rhs);
  EXPECT_LT(graph.count_operations(), 12 * n);
}

TEST(Solve, SecondDerivatives) {
  const Graph graph = trace_solve(5, true, 2);
  const Graph gradient = differentiate(graph, {.seeds = {all(5)}, .wrt = all(4)});
  RandomStream random(3, Purpose::kTest, 5);
  const std::vector<double> x = random_vector(random, 4 + 5);
  const std::vector<double> direction = random_vector(random, 4 + 5);
  const std::vector<double> weights = random_vector(random, 4);
  const Derivatives d = derivatives(gradient, x, direction, weights);
  EXPECT_NEAR(d.reverse, difference(gradient, x, direction, weights, 1e-3), 1e-8 * d.scale);
  EXPECT_NEAR(d.forward, d.reverse, 1e-12 * d.scale);
}

TEST(Solve, ResidualIsZero) {
  RandomStream random(9, Purpose::kTest);
  const int n = 7;
  SymmetricMatrix<double> matrix(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) matrix(i, j) = random.uniform(-1.0, 1.0);
    matrix(i, i) = 8.0;
  }
  const std::vector<double> rhs = random_vector(random, n);
  const std::vector<double> x = solve_symmetric(matrix, std::span<const double>(rhs));
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) sum += matrix(i, j) * x[static_cast<std::size_t>(j)];
    EXPECT_NEAR(sum, rhs[static_cast<std::size_t>(i)], 1e-14);
  }
}

}  // namespace
}  // namespace cgpo
