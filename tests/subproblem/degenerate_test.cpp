// Inputs on the edge, each with a defined answer, and the cutoff for nearly parallel gradients.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <string>

#include "cgpo/subproblem/trust_region.hpp"

#include "explicit_solver.hpp"

namespace cgpo::test {
namespace {

using testing::Each;

void expect_vector(const Vector& actual, const Vector& expected, double tolerance = 1e-14) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << "entry " << i;
}

struct Solved {
  TrustRegionStep step;
  Vector delta;
};

Solved solve_explicit(const ExplicitProblem& problem) {
  Solved result{solve(gram_problem(problem)), {}};
  result.delta = step_vector(problem, result.step);
  return result;
}

TEST(CaseName, IsOneWord) {
  EXPECT_STREQ(case_name(StepCase::kRecover), "recover");
  EXPECT_STREQ(case_name(StepCase::kFree), "free");
  EXPECT_STREQ(case_name(StepCase::kConstrained), "constrained");
  EXPECT_STREQ(case_name(StepCase::kNone), "none");
  EXPECT_STREQ(case_name(StepCase::kRefused), "refused");
}

TEST(ThreeCases, OfThePaper) {
  // q = (0, 2), radius 4: the plane is c + 2δ_2 = 0.
  const auto with = [](double c) { return solve_explicit({{3.0, 4.0}, {{0.0, 2.0}}, {c}, 4.0}); };
  const Solved recover = with(5.0);
  EXPECT_EQ(recover.step.which, StepCase::kRecover);
  expect_vector(recover.delta, {0.0, -2.0});
  EXPECT_NEAR(recover.step.nu[0], 1.0 / 4.0, 1e-15);  // max(0, c + qᵀδ)/t
  EXPECT_NEAR(recover.step.lambda, 0.25, 1e-15);      // λδ = −qν

  const Solved free = with(-5.0);
  EXPECT_EQ(free.step.which, StepCase::kFree);
  expect_vector(free.delta, {1.2, 1.6});
  EXPECT_NEAR(free.step.lambda, 2.5, 1e-15);
  EXPECT_EQ(free.step.nu[0], 0.0);
  EXPECT_NEAR(free.step.gain, 10.0, 1e-14);
  EXPECT_NEAR(free.step.change[0], 3.2, 1e-14);
  EXPECT_NEAR(free.step.length_squared, 4.0, 1e-14);

  const Solved slack = with(-3.5);  // the plane cuts the ball beyond the free step
  EXPECT_EQ(slack.step.which, StepCase::kConstrained);
  expect_vector(slack.delta, {1.2, 1.6});
  EXPECT_EQ(slack.step.nu[0], 0.0);

  const Solved binds = with(2.0);
  EXPECT_EQ(binds.step.which, StepCase::kConstrained);
  expect_vector(binds.delta, {std::sqrt(3.0), -1.0});
  EXPECT_NEAR(binds.step.lambda, std::sqrt(3.0), 1e-14);
  EXPECT_NEAR(binds.step.nu[0], (4.0 + std::sqrt(3.0)) / 2.0, 1e-14);
}

TEST(NoConstraint, IsAFreeStep) {
  const TrustRegionStep step = solve({{4.0}, {}, 9.0});
  EXPECT_EQ(step.which, StepCase::kFree);
  EXPECT_NEAR(step.coefficients[0], 1.5, 1e-15);
  EXPECT_NEAR(step.gain, 6.0, 1e-14);
  EXPECT_EQ(solve({{0.0}, {}, 9.0}).which, StepCase::kNone);
}

TEST(ZeroQ, IsFreeAndWarnsWhereBroken) {
  for (const double c : {-1.0, 0.0, 1.0}) {
    const Solved solved = solve_explicit({{3.0, 4.0}, {{0.0, 0.0}}, {c}, 1.0});
    EXPECT_EQ(solved.step.which, StepCase::kFree);
    EXPECT_EQ(solved.step.unsteerable, c > 0.0);
    expect_vector(solved.delta, {0.6, 0.8});
  }
  // Among others it is as if it were not there.
  const Solved solved = solve_explicit({{3.0, 4.0}, {{0.0, 0.0}, {0.0, 2.0}}, {1.0, 2.0}, 4.0});
  EXPECT_TRUE(solved.step.unsteerable);
  expect_vector(solved.delta, {std::sqrt(3.0), -1.0});
}

TEST(ZeroG, StepsOnlyToRepair) {
  const auto with = [](double c) { return solve_explicit({{0.0, 0.0}, {{0.0, 2.0}}, {c}, 1.0}); };
  for (const double c : {-5.0, -1.0, 0.0}) {
    const Solved none = with(c);
    EXPECT_EQ(none.step.which, StepCase::kNone);
    expect_vector(none.delta, {0.0, 0.0});
  }
  const Solved repair = with(1.0);
  EXPECT_EQ(repair.step.which, StepCase::kConstrained);
  expect_vector(repair.delta, {0.0, -0.5});
  EXPECT_EQ(repair.step.lambda, 0.0);
  const Solved recover = with(3.0);
  EXPECT_EQ(recover.step.which, StepCase::kRecover);
  expect_vector(recover.delta, {0.0, -1.0});
  // Two broken limits: the nearest point of the corner.
  const Solved corner = solve_explicit({{0.0, 0.0}, {{1.0, 0.0}, {0.0, 2.0}}, {0.25, 0.5}, 1.0});
  EXPECT_EQ(corner.step.which, StepCase::kConstrained);
  expect_vector(corner.delta, {-0.25, -0.25});
  const Solved nothing = solve_explicit({{0.0, 0.0}, {{0.0, 0.0}}, {1.0}, 1.0});
  EXPECT_EQ(nothing.step.which, StepCase::kNone);
  EXPECT_TRUE(nothing.step.unsteerable);
}

TEST(ParallelGradients, EndAtTheNearestPointOfTheConstraint) {
  const Vector q = {0.3, -0.7, 1.9};
  for (const double scale : {1.0, 3.0, 0.1}) {
    for (const double d : {-0.9, -0.2, 0.0, 0.4}) {
      const Vector g = sum(Vector(3, 0.0), scale, q);
      const Solved solved = solve_explicit({g, {q}, {d * norm(q)}, 1.0});
      EXPECT_EQ(solved.step.which, StepCase::kConstrained);
      expect_vector(solved.delta, sum(Vector(3, 0.0), -d / norm(q), q));
      EXPECT_EQ(solved.step.lambda, 0.0);
      EXPECT_NEAR(solved.step.nu[0], scale, 1e-14);
    }
    // Opposed: the free step is the best repair too.
    const Solved opposed = solve_explicit({sum(Vector(3, 0.0), -scale, q), {q}, {0.4 * norm(q)}, 1.0});
    expect_vector(opposed.delta, sum(Vector(3, 0.0), -1.0 / norm(q), q));
    EXPECT_EQ(opposed.step.nu[0], 0.0);
  }
}

TEST(ZeroSlack, MovesAlongTheConstraint) {
  const Solved solved = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}}, {0.0}, 4.0});
  EXPECT_EQ(solved.step.which, StepCase::kConstrained);
  expect_vector(solved.delta, {2.0, 0.0});
}

TEST(TouchingPlane, BothFormulasAgree) {
  // c²/t = δ̂ exactly.
  const Solved above = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}}, {4.0}, 4.0});
  EXPECT_EQ(above.step.which, StepCase::kConstrained);
  expect_vector(above.delta, {0.0, -2.0});
  EXPECT_EQ(above.step.lambda, 0.0);
  const Solved beyond = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}}, {std::nextafter(4.0, 5.0)}, 4.0});
  EXPECT_EQ(beyond.step.which, StepCase::kRecover);
  expect_vector(beyond.delta, {0.0, -2.0});
  const Solved below = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}}, {-4.0}, 4.0});
  EXPECT_EQ(below.step.which, StepCase::kConstrained);
  expect_vector(below.delta, {1.2, 1.6});
  // The same with a second constraint far away, through the general method.
  const Solved general = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}, {1.0, 0.0}}, {4.0, -9.0}, 4.0});
  EXPECT_EQ(general.step.which, StepCase::kConstrained);
  expect_vector(general.delta, {0.0, -2.0}, 1e-7);  // the length is the root of a difference
}

TEST(Duplicates, CountOnce) {
  const Solved one = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}}, {2.0}, 4.0});
  const Solved three = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}, {0.0, 1e-3}, {0.0, 5e4}}, {2.0, 1e-3, 5e4}, 4.0});
  EXPECT_EQ(three.step.which, StepCase::kConstrained);
  expect_vector(three.delta, one.delta, 1e-12);
  // Broken duplicates pull together, in the same direction.
  const Solved recover = solve_explicit({{3.0, 4.0}, {{0.0, 2.0}, {0.0, 2.0}}, {9.0, 9.0}, 4.0});
  EXPECT_EQ(recover.step.which, StepCase::kRecover);
  expect_vector(recover.delta, {0.0, -2.0}, 1e-12);
}

TEST(DependentConstraints, MeetInOnePoint) {
  // Three lines of the plane through (0.5, 0); g in the cone of the outer two.
  const Solved solved = solve_explicit({{1.0, 0.0}, {{1.0, 1.0}, {1.0, -1.0}, {2.0, 0.5}}, {-0.5, -0.5, -1.0}, 1.0});
  EXPECT_EQ(solved.step.which, StepCase::kConstrained);
  expect_vector(solved.delta, {0.5, 0.0}, 1e-12);
  EXPECT_NEAR(solved.step.lambda, 0.0, 1e-12);
  const Vector pull = sum(sum(sum({1.0, 0.0}, -solved.step.nu[0], {1.0, 1.0}), -solved.step.nu[1], {1.0, -1.0}),
                          -solved.step.nu[2], {2.0, 0.5});
  expect_vector(pull, {0.0, 0.0}, 1e-12);
}

TEST(Contradiction, KeepsTheLeastViolationAndThenGains) {
  // δ_1 ≤ −0.3 and δ_1 ≥ 0.1 cannot both hold: half way between, and the whole radius is left for g.
  const Solved solved = solve_explicit({{1.0, 2.0, 0.0}, {{1.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}}, {0.3, 0.2}, 1.0});
  EXPECT_EQ(solved.step.which, StepCase::kRecover);
  expect_vector(solved.delta, {-0.1, std::sqrt(0.99), 0.0}, 1e-12);
  EXPECT_EQ(solved.step.lambda, 0.0);
  EXPECT_NEAR(solved.step.nu[0], 0.2, 1e-12);
  EXPECT_NEAR(solved.step.nu[1], 0.1, 1e-12);
  // A third limit that can be met is met.
  const Solved third =
      solve_explicit({{1.0, 2.0, 0.0}, {{1.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, {0.3, 0.2, -0.5}, 1.0});
  EXPECT_EQ(third.step.which, StepCase::kRecover);
  expect_vector(third.delta, {-0.1, 0.5, 0.0}, 1e-12);
  // Without an objective, or with its tangential part dropped, the shortest.
  const Solved still = solve_explicit({{0.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}}, {0.3, 0.2}, 1.0});
  expect_vector(still.delta, {-0.1, 0.0, 0.0}, 1e-12);
  const ExplicitProblem problem{{1.0, 2.0, 0.0}, {{1.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}}, {0.3, 0.2}, 1.0};
  const TrustRegionStep dropped = drop_tangential(gram_problem(problem), solved.step, 2.0);
  EXPECT_TRUE(dropped.tangential_dropped);
  expect_vector(step_vector(problem, dropped), {-0.1, 0.0, 0.0}, 1e-12);
}

TEST(NearlyEmpty, ChangesLittleAcrossFeasibility) {
  // A slab of width ±1e-13 … ±1e-6: feasible on one side, not on the other, the step the same.
  for (const double width : {1e-13, 1e-11, 1e-9, 1e-6}) {
    for (const double sign : {-1.0, 1.0}) {
      const Solved solved = solve_explicit({{1.0, 2.0}, {{1.0, 0.0}, {-1.0, 0.0}}, {0.2 + sign * width, -0.2}, 1.0});
      expect_vector(solved.delta, {-0.2, std::sqrt(0.96)}, 2.0 * width + 1e-11);
    }
  }
}

TEST(HugeViolations, DoNotOverflow) {
  const Solved solved = solve_explicit({{1e150, 0.0}, {{0.0, 1e-150}, {1e-150, 0.0}}, {1e200, 1e-100}, 1e-4});
  EXPECT_EQ(solved.step.which, StepCase::kRecover);
  EXPECT_NEAR(norm(solved.delta), 1e-2, 1e-12);
  EXPECT_LT(solved.delta[1], 0.0);
}

TEST(NotFinite, IsRefused) {
  const TrustRegionProblem good{{25.0, 8.0, 8.0, 4.0}, {2.0}, 4.0};
  for (const double bad :
       {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    for (std::size_t i = 0; i < 5; ++i) {
      TrustRegionProblem problem = good;
      (i < 4 ? problem.gram[i] : problem.slack[0]) = bad;
      const TrustRegionStep step = solve(problem);
      EXPECT_EQ(step.which, StepCase::kRefused);
      ASSERT_EQ(step.coefficients.size(), 2u);
      EXPECT_THAT(step.coefficients, Each(0.0));
      EXPECT_EQ(drop_tangential(problem, step, 0.01).which, StepCase::kRefused);
    }
  }
}

TEST(BrokenRules, Throw) {
  EXPECT_THROW(solve({{1.0, 0.0, 0.0, 1.0}, {0.0}, 0.0}), std::logic_error);
  EXPECT_THROW(solve({{1.0, 0.0, 0.0, 1.0}, {0.0}, -1.0}), std::logic_error);
  EXPECT_THROW(solve({{1.0, 0.0, 0.0, 1.0}, {0.0}, std::nan("")}), std::logic_error);
  EXPECT_THROW(solve({{1.0, 0.0, 0.0, 1.0}, {0.0, 1.0}, 1.0}), std::logic_error);
  EXPECT_THROW(solve({{}, {}, 1.0}), std::logic_error);
}

TEST(Cutoff, DropsTheTangentialPart) {
  for (const double tilt : {1e-4, 5e-3, 2e-2}) {
    const ExplicitProblem problem{{tilt, 1.0}, {{0.0, 2.0}}, {-1.0}, 1.0};
    const TrustRegionProblem gram = gram_problem(problem);
    const TrustRegionStep exact = solve(gram);
    EXPECT_NEAR(tangential_share(gram, exact), tilt / std::hypot(1.0, tilt), 1e-10);
    expect_vector(step_vector(problem, exact), {std::sqrt(0.75), 0.5}, 1e-9);
    const TrustRegionStep step = drop_tangential(gram, exact, 0.01);
    EXPECT_EQ(step.tangential_dropped, tilt < 0.01);
    EXPECT_EQ(step.which, StepCase::kConstrained);
    expect_vector(step_vector(problem, step), {tilt < 0.01 ? 0.0 : std::sqrt(0.75), 0.5}, 1e-9);
    EXPECT_NEAR(step.change[0], 1.0, 1e-9);
    EXPECT_FALSE(drop_tangential(gram, exact, 0.0).tangential_dropped);
  }
}

TEST(Cutoff, LeavesStepsThatDoNotBind) {
  for (const double c : {-3.0, -1.95}) {  // free; constrained but slack
    const TrustRegionProblem gram = gram_problem({{0.1, 0.9}, {{0.0, 2.0}}, {c - 0.05}, 1.0});
    const TrustRegionStep exact = solve(gram);
    EXPECT_EQ(exact.nu[0], 0.0);
    EXPECT_EQ(tangential_share(gram, exact), 1.0);
    EXPECT_FALSE(drop_tangential(gram, exact, 2.0).tangential_dropped);
  }
  const TrustRegionProblem recover = gram_problem({{0.1, 0.9}, {{0.0, 2.0}}, {5.0}, 1.0});
  EXPECT_FALSE(drop_tangential(recover, solve(recover), 2.0).tangential_dropped);
}

TEST(Cutoff, WithSeveralConstraintsKeepsTheOthersMet) {
  // The first binds and is nearly parallel to g; the second, slack at the exact step, is broken at the first's nearest
  // point (0, 0.5) and would be at (−0.1, 0.5) exactly met.
  const ExplicitProblem problem{{-1e-3, 1.0}, {{0.0, 2.0}, {1.0, 0.0}}, {-1.0, 0.1}, 1.0};
  const TrustRegionProblem gram = gram_problem(problem);
  const TrustRegionStep exact = solve(gram);
  expect_vector(step_vector(problem, exact), {-std::sqrt(0.75), 0.5}, 1e-9);
  EXPECT_GT(exact.nu[0], 0.0);
  EXPECT_EQ(exact.nu[1], 0.0);
  const TrustRegionStep step = drop_tangential(gram, exact, 0.01);
  EXPECT_TRUE(step.tangential_dropped);
  expect_vector(step_vector(problem, step), {-0.1, 0.5}, 1e-9);
}

}  // namespace
}  // namespace cgpo::test
