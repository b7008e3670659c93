#include "cgpo/updates/natural_gradient.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "cgpo/base/index.hpp"
#include "cgpo/subproblem/trust_region.hpp"

#include "probe_task.hpp"

namespace cgpo {
namespace {

using testing::ProbeTask;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(ConjugateGradients, SolveInAsManyStepsAsThereAreNumbers) {
  const auto multiply = [](std::span<const double> v, std::span<double> result) {
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = static_cast<double>(i + 1) * v[i];
  };
  for (const double size : {1.0, 1e-12, 1e12}) {
    const std::vector<double> b(10, size);
    const std::vector<double> x = conjugate_gradients(multiply, b, 10);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(x[i] / size, 1.0 / static_cast<double>(i + 1), 1e-8);
  }
  EXPECT_EQ(conjugate_gradients(multiply, std::vector<double>(10, 0.0), 10), std::vector<double>(10, 0.0));
}

AlgorithmContext context(ThreadPool& pool) {
  AlgorithmContext result{make_task(ProbeTask{.end_at = 1.6}), {}, 7, &pool};
  result.settings.environments = 64;
  result.settings.kernel.block = 16;
  result.settings.policy = {.hidden = {7, 5}, .initial_std = 0.4, .learn_std = true, .last_layer_scale = 1.0};
  result.settings.critic.steps = 8;
  result.settings.critic.batch = 64;
  result.settings.critic.hidden = {16};
  return result;
}

struct Machine {
  explicit Machine(const AlgorithmContext& context_in) : machine(context_in) {
    report = machine.collect();
    machine.estimate_advantages();
  }
  std::vector<double> random_direction(std::uint32_t which) const {
    RandomStream random(4, Purpose::kTest, which);
    std::vector<double> result(machine.parts.parameters.size());
    for (double& value : result) value = random.normal();
    return result;
  }
  OnPolicy machine;
  IterationReport report;
};

TEST(FisherMatrix, IsTheCurvatureOfTheDivergence) {
  ThreadPool pool(2);
  Machine m(context(pool));
  FisherMatrix fisher(m.machine.parts.policy, 1 << 20, 0.0);  // all samples
  fisher.rebuild(m.machine.samples, 1, 0, pool);
  const std::size_t size = m.machine.parts.parameters.size();
  for (std::uint32_t trial = 0; trial < 4; ++trial) {
    const std::vector<double> u = m.random_direction(2 * trial), v = m.random_direction(2 * trial + 1);
    std::vector<double> fu(size), fv(size);
    fisher.multiply(u, fu, pool);
    fisher.multiply(v, fv, pool);
    EXPECT_NEAR(dot(u, fv), dot(v, fu), 1e-5 * std::sqrt(dot(u, fu) * dot(v, fv)));
    EXPECT_GE(dot(u, fu), 0.0);
    // KL(θ + h u) = ½ h² uᵀFu + O(h³), the odd part taken out.
    const double h = 0.01;
    double kl = 0.0;
    for (const double sign : {1.0, -1.0}) {
      AlignedVector<float> moved = m.machine.parts.parameters;
      for (std::size_t p = 0; p < size; ++p) moved[p] += static_cast<float>(sign * h * u[p]);
      kl += 0.5 * m.machine.samples.evaluate(moved, pool).kl;
    }
    EXPECT_NEAR(kl, 0.5 * h * h * dot(u, fu), 0.01 * kl);
  }
  // The block of log σ is 2.
  std::vector<double> unit(size, 0.0), result(size);
  unit[at(m.machine.parts.policy.log_std_offset())] = 1.0;
  fisher.multiply(unit, result, pool);
  EXPECT_NEAR(result[at(m.machine.parts.policy.log_std_offset())], 2.0, 1e-9);
}

// An accepted step keeps the divergence and improves the objective; without one nothing moves, to the last bit.
TEST(NaturalStep, KeepsItsPromises) {
  ThreadPool pool(2);
  for (const double kl : {1e-4, 0.01, 0.2}) {
    AlgorithmContext settings = context(pool);
    settings.settings.update.kl = kl;
    Machine m(settings);
    NaturalStep step(m.machine);
    const std::vector<double> coefficients = {0.5, -0.25, -0.25};
    const auto total = [&] {
      return dot(coefficients, m.machine.samples.evaluate(m.machine.parts.parameters, pool).means);
    };
    const double before = total();
    step.take(m.machine, coefficients, m.report);
    EXPECT_EQ(m.report.update_case, "taken");
    EXPECT_LE(*m.report.kl, kl);
    EXPECT_GT(*m.report.kl, 0.1 * kl);
    EXPECT_GT(total(), before);
    EXPECT_NEAR(m.machine.samples.evaluate(m.machine.parts.parameters, pool).kl, *m.report.kl, 1e-12);
  }
  Machine m(context(pool));
  const AlignedVector<float> before = m.machine.parts.parameters;
  const bool taken = backtrack(m.machine, m.random_direction(0), 15, m.report, [](const auto&) { return false; });
  EXPECT_FALSE(taken);
  EXPECT_EQ(before, m.machine.parts.parameters);
  EXPECT_FALSE(backtrack(m.machine, std::vector<double>(before.size(), std::nan("")), 15, m.report,
                         [](const auto&) { return true; }));
  EXPECT_EQ(before, m.machine.parts.parameters);
}

// CPO's sub-problem, F = 1 and δ = .01: baselines.md §12.1, the sixth being the trap (broken, yet the free step repairs
// it).
TEST(CpoSubproblem, NumbersByHand) {
  struct Row {
    double b[2], c, x[2];
  };
  const Row rows[] = {{{0.6, 0.8}, -0.05, {0.135830, -0.039373}}, {{0.6, 0.8}, 0.05, {0.075830, -0.119373}},
                      {{0.6, 0.8}, -0.3, {0.141421, 0.0}},        {{0.6, 0.8}, 0.3, {-0.084853, -0.113137}},
                      {{-0.6, 0.8}, -0.05, {0.141421, 0.0}},      {{-0.6, 0.8}, 0.05, {0.141421, 0.0}},
                      {{-0.6, 0.8}, 0.1, {0.14, -0.02}}};
  for (const Row& row : rows) {
    const double product = row.b[0];
    const TrustRegionStep step = solve({.gram = {1.0, product, product, 1.0}, .slack = {row.c}, .radius = 2.0 * 0.01});
    EXPECT_NEAR(step.coefficients[0] + step.coefficients[1] * row.b[0], row.x[0], 1e-6);
    EXPECT_NEAR(step.coefficients[1] * row.b[1], row.x[1], 1e-6);
  }
}

}  // namespace
}  // namespace cgpo
