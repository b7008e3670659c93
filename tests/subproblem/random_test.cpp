// Thousands of random problems with explicit vectors: optimality conditions, certificates and an independent solver.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "cgpo/subproblem/general.hpp"
#include "cgpo/subproblem/trust_region.hpp"

#include "explicit_solver.hpp"

namespace cgpo::test {
namespace {

enum class Wanted { kAny, kRecover, kFree };

double decades(RandomStream& random, double from, double to) { return std::pow(10.0, random.uniform(from, to)); }

ExplicitProblem random_problem(RandomStream& random, int m, Wanted wanted) {
  const int dimension = 2 + static_cast<int>(random.below(7));
  ExplicitProblem problem;
  problem.radius = decades(random, -4.0, 2.0);
  const double root = std::sqrt(problem.radius);
  for (int i = 0; i < m; ++i) {
    Vector q = random_vector(random, dimension);
    const std::uint32_t kind = random.below(8);
    if (i > 0 && kind == 0) q = problem.q[0];  // the same direction twice
    if (i > 1 && kind == 1) q = sum(problem.q[0], random.normal(), problem.q[1]);
    if (i > 0 && kind == 2)
      q = sum(Vector(q.size(), 0.0), -1.0, problem.q[random.below(static_cast<std::uint32_t>(i))]);
    const double size = decades(random, -3.0, 3.0) / norm(q);
    for (double& value : q) value *= size;
    const double d = wanted == Wanted::kFree      ? random.uniform(-4.0, -1.001)
                     : wanted == Wanted::kRecover ? random.uniform(i == 0 ? 1.001 : -1.5, 3.0)
                                                  : random.uniform(-1.3, random.below(2) == 0 ? 0.3 : 0.99);
    problem.c.push_back(d * norm(q) * root);
    problem.q.push_back(std::move(q));
  }
  problem.g = random_vector(random, dimension);
  if (random.below(4) == 0) {  // inside the cone of the constraints: the ball need not be active
    problem.g.assign(problem.g.size(), 0.0);
    for (const Vector& q : problem.q) problem.g = sum(problem.g, random.uniform() / norm(q), q);
  }
  const double size = decades(random, -3.0, 3.0) / norm(problem.g);
  for (double& value : problem.g) value *= size;
  return problem;
}

// Largest residuals seen, each relative to its natural unit.
struct Worst {
  double stationarity = 0.0, feasibility = 0.0, complementarity = 0.0, gap = 0.0, ball = 0.0, report = 0.0;
  double value = 0.0, step = 0.0;
};

void raise(double& worst, double value) { worst = std::isfinite(value) ? std::max(worst, value) : 1e300; }

// The conditions of optimality from the explicit vectors alone. The gap is a proof: D(ν) = √δ̂‖g − Qν‖ − cᵀν bounds
// gᵀδ of every feasible δ, and F(δ) + min_y ∇F(δ)ᵀ(y − δ) bounds the violation from below.
void check_optimality(const ExplicitProblem& problem, const TrustRegionStep& step, Worst& worst) {
  const Vector delta = step_vector(problem, step);
  const double root = std::sqrt(problem.radius);
  const double g_size = norm(problem.g);
  raise(worst.ball, norm(delta) / root - 1.0);
  raise(worst.report, std::abs(step.length_squared - dot(delta, delta)) / problem.radius);
  raise(worst.report, std::abs(step.gain - dot(problem.g, delta)) / (g_size * root));
  ASSERT_GE(step.lambda, 0.0);

  const bool recover = step.which == StepCase::kRecover;
  Vector left = recover ? Vector(delta.size(), 0.0) : problem.g;
  double bound = 0.0;
  double pull = 0.0;  // Σ of the violations, the scale of ∇F
  for (std::size_t i = 0; i < problem.q.size(); ++i) {
    const double size = norm(problem.q[i]);
    const double along = dot(problem.q[i], delta);
    const double over = (problem.c[i] + along) / (size * root);
    raise(worst.report, std::abs(step.change[i] - along) / (size * root));
    ASSERT_GE(step.nu[i], 0.0);
    left = sum(left, -step.nu[i], problem.q[i]);
    if (recover) {
      pull += std::max(0.0, over);
      raise(worst.complementarity, std::abs(step.nu[i] * size / root - std::max(0.0, over)) / (1.0 + std::abs(over)));
    } else {
      bound -= problem.c[i] * step.nu[i];
      raise(worst.feasibility, over);
      raise(worst.complementarity, step.nu[i] * size / g_size * std::abs(over));
    }
  }
  const Vector rest = sum(left, -step.lambda, delta);
  if (recover) {
    ASSERT_GT(pull, 0.0);
    raise(worst.stationarity, norm(rest) / (pull * root));
    raise(worst.gap, (norm(left) * root - dot(left, delta)) / (pull * problem.radius));
  } else {
    raise(worst.stationarity, norm(rest) / g_size);
    raise(worst.complementarity, step.lambda * root / g_size * std::abs(1.0 - dot(delta, delta) / problem.radius));
    raise(worst.gap, (bound + root * norm(left) - dot(problem.g, delta)) / (g_size * root));
  }
}

void expect_small(const Worst& worst) {
  EXPECT_LT(worst.stationarity, 1e-7);
  EXPECT_LT(worst.feasibility, 1e-8);
  EXPECT_LT(worst.complementarity, 1e-7);
  EXPECT_LT(worst.gap, 1e-8);
  EXPECT_LT(worst.ball, 1e-8);
  EXPECT_LT(worst.report, 1e-8);
}

void print(const char* what, const Worst& worst) {
  std::printf(
      "%s: stationarity %.1e, feasibility %.1e, complementarity %.1e, gap %.1e, ball %.1e, report %.1e, "
      "value %.1e, step %.1e\n",
      what, worst.stationarity, worst.feasibility, worst.complementarity, worst.gap, worst.ball, worst.report,
      worst.value, worst.step);
}

enum Reached { kRecoverBall, kRecoverInside, kFreeStep, kSlack, kOneBinds, kMoreBind, kVertex, kReachedCount };

Reached reached(const TrustRegionStep& step) {
  if (step.which == StepCase::kRecover) return step.lambda > 0.0 ? kRecoverBall : kRecoverInside;
  if (step.which == StepCase::kFree) return kFreeStep;
  const auto binding = std::count_if(step.nu.begin(), step.nu.end(), [](double nu) { return nu > 0.0; });
  if (binding == 0) return kSlack;
  if (step.lambda == 0.0) return kVertex;
  return binding == 1 ? kOneBinds : kMoreBind;
}

TEST(RandomProblems, MeetTheOptimalityConditions) {
  std::array<int, kReachedCount> counts{};
  Worst worst;
  RandomStream random(1, Purpose::kTest);
  for (int m = 1; m <= 5; ++m) {
    for (int trial = 0; trial < 12000; ++trial) {
      const Wanted wanted = trial % 4 == 0 ? Wanted::kRecover : trial % 4 == 1 ? Wanted::kFree : Wanted::kAny;
      const ExplicitProblem problem = random_problem(random, m, wanted);
      const TrustRegionStep step = solve(gram_problem(problem));
      ASSERT_TRUE(step.which == StepCase::kRecover || step.which == StepCase::kFree ||
                  step.which == StepCase::kConstrained);
      ASSERT_TRUE(wanted != Wanted::kRecover || step.which == StepCase::kRecover);
      ASSERT_TRUE(wanted != Wanted::kFree || step.which == StepCase::kFree);
      check_optimality(problem, step, worst);
      ++counts[reached(step)];
    }
  }
  print("optimality", worst);
  std::printf("recover %d at the ball, %d inside; free %d; constrained: none binds %d, one %d, more %d, vertex %d\n",
              counts[kRecoverBall], counts[kRecoverInside], counts[kFreeStep], counts[kSlack], counts[kOneBinds],
              counts[kMoreBind], counts[kVertex]);
  expect_small(worst);
  for (const int count : counts) EXPECT_GT(count, 1000);
}

TEST(RandomProblems, AgreeWithAnInteriorPointMethod) {
  Worst worst;
  RandomStream random(2, Purpose::kTest);
  std::array<std::array<int, 6>, kReachedCount> counts{};
  int unclear = 0;
  for (std::size_t m = 1; m <= 5; ++m) {
    for (int trial = 0; trial < 1600; ++trial) {
      const ExplicitProblem problem =
          random_problem(random, static_cast<int>(m), trial % 3 == 0 ? Wanted::kRecover : Wanted::kAny);
      const Reference reference = solve_reference(problem);
      if (std::abs(reference.margin) < 1e-6) {  // the reference cannot tell
        ++unclear;
        continue;
      }
      const TrustRegionStep step = solve(gram_problem(problem));
      const Vector delta = step_vector(problem, step);
      const double root = std::sqrt(problem.radius);
      ++counts[reached(step)][m];
      ASSERT_EQ(step.which == StepCase::kRecover, reference.margin > 0.0) << reference.margin;
      if (step.which == StepCase::kRecover) {
        double violation = 0.0;
        for (std::size_t i = 0; i < m; ++i) {
          const double over = (problem.c[i] + dot(problem.q[i], delta)) / (norm(problem.q[i]) * root);
          violation += 0.5 * std::pow(std::max(0.0, over), 2);
        }
        raise(worst.value, std::abs(violation - reference.violation));
        if (step.lambda > 1e-2) raise(worst.step, norm(sum(delta, -1.0, reference.delta)) / root);
      } else {
        raise(worst.value, std::abs(step.gain / (norm(problem.g) * root) - reference.gain));
        if (step.lambda * root / norm(problem.g) > 1e-2) {
          raise(worst.step, norm(sum(delta, -1.0, reference.delta)) / root);
        }
      }
    }
  }
  print("interior point", worst);
  EXPECT_LT(worst.value, 1e-8);
  EXPECT_LT(worst.step, 1e-3);
  EXPECT_LT(unclear, 50);
  int recover = 0;
  int constrained = 0;
  for (std::size_t m = 1; m <= 5; ++m) {
    recover += counts[kRecoverBall][m] + counts[kRecoverInside][m];
    constrained += counts[kOneBinds][m] + counts[kMoreBind][m] + counts[kVertex][m];
    EXPECT_GT(counts[kRecoverBall][m], 400);
    EXPECT_GT(counts[kOneBinds][m] + counts[kMoreBind][m] + counts[kVertex][m], 300);
  }
  std::printf("unclear %d, recover %d, constrained %d\n", unclear, recover, constrained);
  EXPECT_GT(recover, 2500);
  EXPECT_GT(constrained, 2500);
}

// The paper's Algorithm 2, line by line.
struct Duals {
  double lambda;
  double nu;
};

Duals algorithm_2(double r, double s, double t, double c, double radius) {
  const double infinity = std::numeric_limits<double>::infinity();
  // {λ ≥ 0: λc + s > 0} and {λ ≥ 0: λc + s ≤ 0} as closed intervals; empty where low > high.
  double a_low = 0.0, a_high = infinity, b_low = 0.0, b_high = infinity;
  const double cross = -s / c;
  if (c > 0.0) {
    a_low = std::max(0.0, cross);
    b_high = cross;
  } else {
    a_high = cross;
    b_low = std::max(0.0, cross);
  }
  double best = -infinity;
  double lambda = 0.0;
  if (b_low <= b_high) {
    lambda = std::clamp(std::sqrt(r / radius), b_low, b_high);
    best = -0.5 * (r / lambda + lambda * radius);
  }
  if (a_low <= a_high) {
    const double lambda_a = std::clamp(std::sqrt((r - s * s / t) / (radius - c * c / t)), a_low, a_high);
    const double value = 0.5 / lambda_a * (s * s / t - r) + 0.5 * lambda_a * (c * c / t - radius) + s * c / t;
    if (value > best) lambda = lambda_a;
  }
  return {lambda, std::max((lambda * c + s) / t, 0.0)};
}

TEST(OneConstraint, IsAlgorithm2) {
  RandomStream random(3, Purpose::kTest);
  int binding = 0;
  int slack = 0;
  double worst = 0.0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double r = decades(random, -6.0, 6.0);
    const double t = decades(random, -6.0, 6.0);
    const double radius = decades(random, -4.0, 2.0);
    const double s = random.uniform(-0.99, 0.99) * std::sqrt(r * t);
    const double c = random.uniform(-0.99, 0.99) * std::sqrt(t * radius);
    const TrustRegionStep step = solve({{r, s, s, t}, {c}, radius});
    ASSERT_EQ(step.which, StepCase::kConstrained);
    const Duals duals = algorithm_2(r, s, t, c, radius);
    const double nu_unit = std::sqrt(r / t);
    raise(worst, std::abs(step.lambda / duals.lambda - 1.0));
    raise(worst, std::abs(step.nu[0] - duals.nu) / (nu_unit + duals.nu));
    const double a0 = 1.0 / duals.lambda;
    const double a1 = -duals.nu / duals.lambda;
    raise(worst, std::abs(step.coefficients[0] - a0) / a0);
    raise(worst, std::abs(step.coefficients[1] - a1) / (std::abs(a1) + std::sqrt(radius / t)));
    ++(step.nu[0] > 0.0 ? binding : slack);
  }
  std::printf("Algorithm 2: %d bind, %d do not; largest difference %.1e\n", binding, slack, worst);
  EXPECT_LT(worst, 1e-12);
  EXPECT_GT(binding, 5000);
  EXPECT_GT(slack, 5000);
}

TEST(OneConstraint, TheGeneralMethodAgreesWithTheClosedForm) {
  RandomStream random(4, Purpose::kTest);
  double worst = 0.0;
  int cases[2] = {0, 0};
  for (int trial = 0; trial < 20000; ++trial) {
    const double r = decades(random, -6.0, 6.0);
    const double t = decades(random, -6.0, 6.0);
    const double radius = decades(random, -4.0, 2.0);
    const double s = random.uniform(-0.999, 0.999) * std::sqrt(r * t);
    const double c = random.uniform(-0.999, 1.5) * std::sqrt(t * radius);
    const TrustRegionProblem problem{{r, s, s, t}, {c}, radius};
    const TrustRegionStep closed = solve(problem);
    TrustRegionStep general = closed;
    general.coefficients = general.nu = general.change = {0.0, 0.0};
    general.lambda = 0.0;
    subproblem::solve_general(subproblem::ScaledProblem(problem), general);
    ASSERT_EQ(general.which, closed.which);
    ++cases[closed.which == StepCase::kRecover ? 0 : 1];
    const double unit = closed.which == StepCase::kRecover ? std::sqrt(radius / t) : std::sqrt(r / t);
    raise(worst, std::abs(general.lambda - closed.lambda) / (closed.lambda + 1e-3));
    raise(worst, std::abs(general.nu[0] - closed.nu[0]) / (closed.nu[0] + unit));
    raise(worst, std::abs(general.coefficients[0] - closed.coefficients[0]) * std::sqrt(r / radius));
    raise(worst, std::abs(general.coefficients[1] - closed.coefficients[1]) * std::sqrt(t / radius));
  }
  std::printf("general against closed form: %d recover, %d constrained; largest difference %.1e\n", cases[0], cases[1],
              worst);
  EXPECT_LT(worst, 1e-11);
  EXPECT_GT(cases[0], 3000);
  EXPECT_GT(cases[1], 3000);
}

// max gᵀδ, δᵀHδ ≤ δ̂ with H = LLᵀ is the Euclidean problem for y = Lᵀδ with gradients L⁻¹g, L⁻¹q_i.
TEST(Metric, IsAChangeOfCoordinates) {
  RandomStream random(5, Purpose::kTest);
  double worst = 0.0;
  for (int trial = 0; trial < 2000; ++trial) {
    const ExplicitProblem euclid =
        random_problem(random, 1 + trial % 5, trial % 4 == 0 ? Wanted::kRecover : Wanted::kAny);
    const std::size_t n = euclid.g.size();
    std::vector<Vector> lower(n, Vector(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) lower[i][j] = 0.3 * random.normal();
      lower[i][i] = random.uniform(0.5, 2.0);
    }
    std::vector<Vector> metric(n, Vector(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) metric[i][j] = dot(lower[i], lower[j]);
    }
    std::vector<Vector> gradients;  // in θ: L · (those in y)
    std::vector<Vector> raised;     // H⁻¹ of them
    for (std::size_t k = 0; k <= euclid.q.size(); ++k) {
      Vector gradient;
      for (const Vector& row : lower) gradient.push_back(dot(row, k == 0 ? euclid.g : euclid.q[k - 1]));
      raised.push_back(gauss(metric, gradient));
      gradients.push_back(std::move(gradient));
    }
    TrustRegionProblem problem{{}, euclid.c, euclid.radius};
    for (const Vector& a : gradients) {
      for (const Vector& b : raised) problem.gram.push_back(dot(a, b));
    }
    const TrustRegionStep step = solve(problem);
    Vector delta(n, 0.0);
    for (std::size_t k = 0; k < raised.size(); ++k) delta = sum(delta, step.coefficients[k], raised[k]);
    Vector y(n, 0.0);  // Lᵀδ
    for (std::size_t i = 0; i < n; ++i) y = sum(y, delta[i], lower[i]);

    const TrustRegionStep expected = solve(gram_problem(euclid));
    ASSERT_EQ(step.which, expected.which);
    const double root = std::sqrt(euclid.radius);
    raise(worst, norm(sum(y, -1.0, step_vector(euclid, expected))) / root);
    raise(worst, std::abs(dot(gradients[0], delta) - step.gain) / (root * norm(euclid.g)));
  }
  std::printf("metric: largest difference %.1e\n", worst);
  EXPECT_LT(worst, 1e-6);
}

TEST(Scale, OfGAndOfEachConstraintDoesNotMatter) {
  RandomStream random(6, Purpose::kTest);
  for (int trial = 0; trial < 3000; ++trial) {
    ExplicitProblem problem = random_problem(random, 1 + trial % 5, trial % 4 == 0 ? Wanted::kRecover : Wanted::kAny);
    const TrustRegionStep before = solve(gram_problem(problem));
    const Vector delta = step_vector(problem, before);
    const double g_scale = decades(random, -140.0, 140.0);
    for (double& value : problem.g) value *= g_scale;
    for (std::size_t i = 0; i < problem.q.size(); ++i) {
      const double scale = decades(random, -140.0, 140.0);
      for (double& value : problem.q[i]) value *= scale;
      problem.c[i] *= scale;
    }
    const TrustRegionStep after = solve(gram_problem(problem));
    ASSERT_EQ(after.which, before.which);
    const double root = std::sqrt(problem.radius);
    EXPECT_LT(norm(sum(step_vector(problem, after), -1.0, delta)) / root, 2e-6) << trial;
    EXPECT_NEAR(after.gain / g_scale / (root * norm(problem.g) / g_scale),
                before.gain / (root * norm(problem.g) / g_scale), 1e-9);
  }
}

TEST(ManyConstraints, AreSolvedToo) {
  RandomStream random(7, Purpose::kTest);
  Worst worst;
  for (int trial = 0; trial < 30; ++trial) {
    ExplicitProblem problem;
    for (int i = 0; i < 40; ++i) {
      problem.q.push_back(random_vector(random, 20));
      problem.c.push_back(random.uniform(-0.6, trial % 3 == 0 ? 0.8 : -0.05) * norm(problem.q.back()));
    }
    problem.g = random_vector(random, 20);
    check_optimality(problem, solve(gram_problem(problem)), worst);
  }
  print("40 constraints", worst);
  expect_small(worst);
}

}  // namespace
}  // namespace cgpo::test
