// Gradients of a sum that depends on when an episode ends, against differences of J itself, which is known here: a walk
// in one dimension, whose value is integrated backwards in time.
#include "cgpo/gradient/missed.hpp"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "cgpo/gradient/corrected.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/rollout/imagine.hpp"

namespace cgpo {
namespace {

constexpr int kHorizon = 8;
constexpr double kReach = 0.5;  // of an action
constexpr double kStart = 0.2;  // x begins within ± this

// x' = x + reach·a; r = 1 + 0.3 x'; beyond `border` the episode ends.
struct Walk {
  double border = 0.6;
  double reach = kReach;
  double drift = 0.0;  // of x in a step

  TaskSpec spec() const {
    TaskSpec spec;
    spec.name = "walk";
    spec.states = 1;
    spec.observations = 1;
    spec.actions = 1;
    spec.horizon = kHorizon;
    return spec;
  }
  void reset(RandomStream& random, std::span<double> state) const { state[0] = random.uniform(-kStart, kStart); }
  template <class S>
  void observe(std::span<const S> state, std::span<S> observation) const {
    observation[0] = state[0];
  }
  template <class S>
  StepResult<S> step(std::span<const S> state, std::span<const S> action) const {
    const S x = state[0] + reach * action[0] + drift * state[0];
    const S reward = 1.0 + 0.3 * x;
    return {.state = {x}, .reward = reward, .reward_paper = reward, .costs = {}, .ended = border < x};
  }
};

// J of a = tanh(w x + b + σε) by Simpson's rule over ε up to where the border is met, from T backwards on a grid of x.
class ExactReturn {
 public:
  ExactReturn(double weight, double bias, double log_std, double border)
      : weight_(weight), bias_(bias), std_(std::exp(log_std)), border_(border), values_(kPoints + 1, 0.0) {
    for (int t = kHorizon - 1; t >= 0; --t) {
      std::vector<double> next = values_;
      for (int i = 0; i <= kPoints; ++i) next[static_cast<std::size_t>(i)] = expected(place(i));
      values_ = next;
    }
  }
  double value(double x) const { return interpolate(x); }
  double mean() const {
    return simpson(-kStart, kStart, [&](double x) { return interpolate(x); }) / (2.0 * kStart);
  }

 private:
  static constexpr int kPoints = 600;
  static constexpr double kLow = -kStart - kReach * kHorizon;

  double place(int i) const { return kLow + (border_ - kLow) * i / kPoints; }
  double interpolate(double x) const {
    const double at = std::clamp((x - kLow) / (border_ - kLow) * kPoints, 0.0, kPoints - 1e-9);
    const auto i = static_cast<std::size_t>(at);
    return values_[i] + (at - static_cast<double>(i)) * (values_[i + 1] - values_[i]);
  }
  template <class F>
  static double simpson(double low, double high, F f) {
    constexpr int kPieces = 120;
    double sum = 0.0;
    for (int i = 0; i <= kPieces; ++i)
      sum += f(low + (high - low) * i / kPieces) * (i == 0 || i == kPieces ? 1.0 : i % 2 == 1 ? 4.0 : 2.0);
    return sum * (high - low) / kPieces / 3.0;
  }
  double expected(double x) const {
    const auto next = [&](double noise) { return x + kReach * std::tanh(weight_ * x + bias_ + std_ * noise); };
    const auto density = [](double noise) {
      return std::exp(-0.5 * noise * noise) / std::sqrt(2.0 * std::numbers::pi);
    };
    const double all = simpson(-7.0, 7.0, [&](double noise) { return density(noise) * (1.0 + 0.3 * next(noise)); });
    const double action = (border_ - x) / kReach;
    const double last =
        action >= 1.0 ? 7.0 : std::clamp((std::atanh(std::max(action, 0.0)) - weight_ * x - bias_) / std_, -7.0, 7.0);
    return all + simpson(-7.0, last, [&](double noise) { return density(noise) * interpolate(next(noise)); });
  }

  double weight_, bias_, std_, border_;
  std::vector<double> values_;  // of the step at hand
};

// Means over batches of a gradient's parts, w, b and log σ, and their standard errors.
struct Means {
  std::array<double, 3> mean = {};
  std::array<double, 3> error = {};
  double outside(const std::array<double, 3>& truth) const {  // the largest miss, in standard errors
    double most = 0.0;
    for (std::size_t i = 0; i < 3; ++i) most = std::max(most, std::abs(mean[i] - truth[i]) / error[i]);
    return most;
  }
};

struct Lab {
  explicit Lab(Walk walk) : task(make_task(walk)), simulator(task, {}), policy(1, {}, 1, true), normaliser(1), pool(1) {
    parameters = {0.4, 0.1, std::log(0.5)};
    Moments moments(1);
    const double samples[2] = {-1.0, 1.0};
    moments.add(Rows<const double>(samples, 2), 2);
    normaliser.update(moments);
    critics.emplace_back(1, std::vector<int>{8}, kHorizon);
    critics[0].initialise(5, 0);
    RandomStream random(6, Purpose::kTest);
    for (double& value : critics[0].parameters()) value = 1.5 * random.normal();
    border = walk.border;
  }

  std::array<double, 3> truth() const {
    std::array<double, 3> result = {};
    const double scale = normaliser.scale().std[0];
    for (std::size_t i = 0; i < 3; ++i) {
      constexpr double kMove = 1e-3;
      const auto moved = [&](double by) {
        std::array<double, 3> p = {parameters[0], parameters[1], parameters[2]};
        p[i] += by;
        return ExactReturn(p[0] / scale, p[1], p[2], border).mean();
      };
      result[i] = (moved(kMove) - moved(-kMove)) / (2.0 * kMove);
    }
    return result;
  }

  // estimate(batch) → gradient of the reward.
  template <class Estimate>
  Means means(int batches, Estimate estimate) {
    Means result;
    std::array<double, 3> squares = {};
    Batch<double> batch(simulator, 1024, kHorizon, 128);
    for (int i = 0; i < batches; ++i) {
      collect(simulator, actor(), {.seed = 3, .iteration = static_cast<std::uint32_t>(i)}, false, pool, batch);
      const std::vector<double> g = estimate(batch);
      for (std::size_t p = 0; p < 3; ++p) {
        result.mean[p] += g[p] / batches;
        squares[p] += g[p] * g[p] / batches;
      }
    }
    for (std::size_t p = 0; p < 3; ++p)
      result.error[p] = std::sqrt((squares[p] - result.mean[p] * result.mean[p]) / batches);
    return result;
  }

  Actor<double> actor() const { return {policy, parameters, normaliser}; }

  // The sweep alone, as shac has it.
  Means swept(int window, int batches) {
    return means(batches, [&](const Batch<double>& batch) {
      FirstOrderGradient<double> sweep(simulator, policy, batch, window);
      return sweep.estimate(batch, actor(), critics, pool).gradients[0];
    });
  }
  // With ends closed, and what that missed.
  Means corrected(int window, int batches) {
    return means(batches, [&](const Batch<double>& batch) {
      FirstOrderGradient<double> sweep(simulator, policy, batch, window);
      MissedGradient<double> missed(simulator, policy, batch, window, {}, /*lambda=*/1.0);
      std::vector<double> sum = sweep.estimate(batch, actor(), critics, pool, Ends::kClosed).gradients[0];
      const std::vector<double>& more = missed.estimate(batch, actor(), critics, pool).gradients[0];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
      return sum;
    });
  }

  // Along episodes of the walk, with the derivatives of another one: what comes of it, and of the correction.
  Means swept_along_twin(const Walk& twin, int window, int batches) {
    const auto other = make_task(twin);
    const KernelSimulator<double> lender(other, {});
    return means(batches, [&](const Batch<double>& batch) {
      FirstOrderGradient<double> sweep(lender, policy, batch, window);
      return sweep.estimate(batch, actor(), critics, pool, Ends::kClosed).gradients[0];
    });
  }
  Means corrected_along_twin(const Walk& twin, int window, int batches) {
    const auto other = make_task(twin);
    const KernelSimulator<double> lender(other, {});
    return means(batches, [&](const Batch<double>& batch) {
      FirstOrderGradient<double> sweep(lender, policy, batch, window);
      MissedGradient<double> missed(simulator, policy, batch, window, {}, /*lambda=*/1.0);
      std::vector<double> sum = sweep.estimate(batch, actor(), critics, pool, Ends::kClosed).gradients[0];
      const std::vector<double>& more = missed.estimate(batch, actor(), critics, pool).gradients[0];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
      return sum;
    });
  }
  Means promised_by_twin(const Walk& twin, int batches) {
    const auto other = make_task(twin);
    const KernelSimulator<double> model(other, {});
    Batch<double> predicted(model, 1024, kHorizon, 128);
    return means(batches, [&](const Batch<double>& batch) {
      imagine(model, actor(), batch, 1, Replay::kNoise, pool, predicted);
      CorrectedGradient<double> corrected(simulator, model, policy, batch, predicted, {}, /*lambda=*/1.0,
                                          Ends::kClosed);
      return corrected.estimate(batch, predicted, actor(), critics, pool).gradients[0];
    });
  }

  std::shared_ptr<const Task> task;
  KernelSimulator<double> simulator;
  Policy<double> policy;
  AlignedVector<double> parameters;
  Normaliser<double> normaliser;
  std::vector<Critic<double>> critics;
  ThreadPool pool;
  double border = 0.0;
};

std::string words(const char* name, const Means& m) {
  std::string text = name;
  for (std::size_t i = 0; i < 3; ++i) text += fmt::format("  {:.4f} ± {:.4f}", m.mean[i], m.error[i]);
  return text + "\n";
}
std::string words(const std::array<double, 3>& m) {
  return fmt::format("truth  {:.4f}  {:.4f}  {:.4f}\n", m[0], m[1], m[2]);
}

// The very J that episodes have.
TEST(Missed, TheExactReturnIsThatOfEpisodes) {
  Lab lab(Walk{});
  Batch<double> batch(lab.simulator, 100000, kHorizon, 256);
  collect(lab.simulator, lab.actor(), {.seed = 8}, false, lab.pool, batch);
  const BatchStatistics seen = summarise(batch);
  EXPECT_LT(seen.episode_length, 0.8 * kHorizon);  // ends matter
  EXPECT_NEAR(
      seen.mean[0],
      ExactReturn(lab.parameters[0] / lab.normaliser.scale().std[0], lab.parameters[1], lab.parameters[2], lab.border)
          .mean(),
      4.0 * seen.standard_error[0]);
}

// Whatever the critic says; this one is noise.
TEST(Missed, StepByStepItMakesUpForEndsWhateverTheCritic) {
  Lab lab(Walk{});
  const std::array<double, 3> truth = lab.truth();
  const Means swept = lab.swept(1, 100);
  const Means corrected = lab.corrected(1, 400);
  EXPECT_GT(swept.outside(truth), 50.0) << words(truth) << words("swept", swept);
  EXPECT_LT(corrected.outside(truth), 4.0) << words(truth) << words("corrected", corrected);
}

TEST(Missed, InWindowsItMakesUpForTheCritic) {
  Lab lab(Walk{.border = 100.0});  // nothing ends
  const std::array<double, 3> truth = lab.truth();
  const Means swept = lab.swept(3, 100);
  const Means corrected = lab.corrected(3, 400);
  EXPECT_GT(swept.outside(truth), 50.0) << words(truth) << words("swept", swept);
  EXPECT_LT(corrected.outside(truth), 4.0) << words(truth) << words("corrected", corrected);
}

// In longer windows an end moves with the critic's error on the border: of a critic that is noise most is still made up
// for.
TEST(Missed, InWindowsWithEndsTheCriticsErrorIsOfSecondOrder) {
  const auto miss = [](const Means& means, const std::array<double, 3>& truth) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 3; ++i) sum += (means.mean[i] - truth[i]) * (means.mean[i] - truth[i]);
    return std::sqrt(sum);
  };
  Lab lab(Walk{});
  const std::array<double, 3> truth = lab.truth();
  EXPECT_LT(miss(lab.corrected(3, 400), truth), 0.2 * miss(lab.swept(3, 100), truth));
}

// A twin whose actions reach half as far again, the other way. What its sweep promises, scores must take back: those
// of what windows missed do not, those of advantages less the twin's own promise do.
TEST(Missed, AWrongTwinIsMadeUpFor) {
  for (const double border : {0.6, 100.0}) {
    Lab lab(Walk{.border = border});
    const Walk twin{.border = border, .reach = -1.5 * kReach, .drift = 0.3};
    const std::array<double, 3> truth = lab.truth();
    const Means swept = lab.swept_along_twin(twin, 1, 100);
    const Means by_windows = lab.corrected_along_twin(twin, 1, 100);
    const Means corrected = lab.promised_by_twin(twin, 400);
    EXPECT_GT(swept.outside(truth), 50.0) << words(truth) << words("swept", swept);
    EXPECT_GT(by_windows.outside(truth), 50.0) << words(truth) << words("by windows", by_windows);
    EXPECT_LT(corrected.outside(truth), 4.0) << words(truth) << words("corrected", corrected);
  }
}

}  // namespace
}  // namespace cgpo
