#include <array>
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

using Vector = std::array<double, 4>;
using Matrix = std::array<Vector, 4>;

struct Linear {
  Matrix a{};  // ∂ next / ∂ state of a control step
  Vector b{};  // ∂ next / ∂ action
};

Linear linearise(const Task& task, const Vector& state) {
  const Graph tangent = differentiate_forward(task.trace_step());
  Linear result;
  for (std::size_t j = 0; j < 5; ++j) {
    std::vector<double> input(state.begin(), state.end());
    input.resize(10);
    input[5 + j] = 1.0;
    const std::vector<double> output = evaluate(tangent, input);
    for (std::size_t i = 0; i < 4; ++i) (j < 4 ? result.a[i][j] : result.b[i]) = output[i];
  }
  return result;
}

// det(A − λ) by elimination.
double characteristic(Matrix m, double lambda) {
  for (std::size_t i = 0; i < 4; ++i) m[i][i] -= lambda;
  double determinant = 1.0;
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < 4; ++r) {
      if (std::abs(m[r][i]) > std::abs(m[pivot][i])) pivot = r;
    }
    if (pivot != i) {
      std::swap(m[pivot], m[i]);
      determinant = -determinant;
    }
    determinant *= m[i][i];
    if (determinant == 0.0) return 0.0;
    for (std::size_t r = i + 1; r < 4; ++r) {
      const double factor = m[r][i] / m[i][i];
      for (std::size_t c = i; c < 4; ++c) m[r][c] -= factor * m[i][c];
    }
  }
  return determinant;
}

// Gains K of the discrete linear–quadratic regulator, by iterating Riccati's equation in Joseph's form, which stays
// symmetric and stable: P = Q + Kᵀ R K + (A − B K)ᵀ P (A − B K).
Vector regulator(const Linear& system, const Vector& weights, double action_weight) {
  Matrix p{};
  for (std::size_t i = 0; i < 4; ++i) p[i][i] = weights[i];
  Vector gain{};
  for (int iteration = 0; iteration < 1000; ++iteration) {
    Vector pb{};
    double s = action_weight;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) pb[i] += p[i][j] * system.b[j];
      s += system.b[i] * pb[i];
    }
    gain = {};
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t i = 0; i < 4; ++i) gain[j] += pb[i] * system.a[i][j] / s;
    }
    Matrix closed = system.a;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) closed[i][j] -= system.b[i] * gain[j];
    }
    Matrix half{};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t k = 0; k < 4; ++k) half[i][j] += p[i][k] * closed[k][j];
      }
    }
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        p[i][j] = (i == j ? weights[i] : 0.0) + gain[i] * action_weight * gain[j];
        for (std::size_t k = 0; k < 4; ++k) p[i][j] += closed[k][i] * half[k][j];
      }
    }
  }
  return gain;
}

TEST(CartPole, EigenvaluesOfTheUprightPole) {
  const Linear system = linearise(*standard_task("cartpole"), {0.0, -0.00167, 0.0, 0.0});
  for (const double expected : {1.1973, 0.7710, 1.0, 0.9974}) {
    double x = expected;  // Newton's method from the tabled value
    for (int i = 0; i < 20; ++i) {
      const double slope = (characteristic(system.a, x + 1e-6) - characteristic(system.a, x - 1e-6)) / 2e-6;
      x -= characteristic(system.a, x) / slope;
    }
    EXPECT_NEAR(x, expected, 6e-5);
  }
}

TEST(CartPole, IdleAndRandomLengths) {
  const auto length = [](const char* engine, double scale, const Act& act) {
    const auto task = task_with("cartpole", {{"action_scale", scale}, {"engine", std::string(engine)}});
    return estimate(run_episodes(task, 512, act, 60).lengths).mean;
  };
  EXPECT_NEAR(length("own", 3.0, idle()), 25.3, 1.0);
  EXPECT_NEAR(length("mujoco", 3.0, idle()), 25.3, 1.0);
  EXPECT_NEAR(length("own", 1.0, uniform_actions()), 11.0, 1.0);
  EXPECT_NEAR(length("own", 3.0, uniform_actions()), 6.0, 0.7);
}

TEST(CartPole, AHeldPositionMeetsTheLimit) {
  const auto task = standard_task("cartpole");
  const Vector gain = regulator(linearise(*task, {0.0, -0.00167, 0.0, 0.0}), {10.0, 1.0, 1.0, 1.0}, 100.0);
  for (const auto& [hold, cost] : {std::pair{0.40, -40.3}, {0.45, -51.0}, {0.50, -63.0}, {0.60, -90.7}}) {
    const Act act = [&gain, hold = hold](RandomStream&, std::span<const double> state, std::span<double> action) {
      const Vector error = {state[0] - hold, state[1] + 0.00167, state[2], state[3]};
      double u = 0.0;
      for (std::size_t i = 0; i < 4; ++i) u -= gain[i] * error[i];
      action[0] = std::clamp(u, -1.0, 1.0);
    };
    const Episodes episodes = run_episodes(task, 64, act);
    EXPECT_NEAR(estimate(episodes.costs[0]).mean, cost, 0.1 * -cost) << hold;
    for (const double reward : episodes.rewards) EXPECT_EQ(reward, 300.0);
  }
}

TEST(CartPole, EndingsDifferInWhatStops) {
  const auto run = [](const char* ending) {
    return run_episodes(task_with("cartpole", {{"ending", std::string(ending)}}), 128, uniform_actions());
  };
  const Episodes latched = run("latched");
  const Episodes stop = run("stop");
  const Episodes none = run("none");
  EXPECT_EQ(latched.rewards, stop.rewards);
  EXPECT_EQ(latched.rewards, latched.lengths);
  EXPECT_LT(estimate(latched.costs[0]).mean, -50.0);  // the fallen cart is pushed to the rail's ends
  EXPECT_GT(estimate(stop.costs[0]).mean, -1.0);
  EXPECT_EQ(latched.costs[0], none.costs[0]);
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(none.lengths[i], 300.0);
    EXPECT_GE(none.rewards[i], latched.rewards[i] - 1.0);
  }
}

TEST(CartPole, TheSurrogateOnlyChangesWhatIsOptimised) {
  const auto task = task_with("cartpole", {{"survival_surrogate", true}});
  const Episodes episodes = run_episodes(task, 16, idle());
  EXPECT_EQ(episodes.paper, episodes.lengths);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_LT(episodes.rewards[i], episodes.lengths[i]);
}

}  // namespace
}  // namespace cgpo
