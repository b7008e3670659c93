// Both estimates of the next policy's J against what it turns out to be, with the same start states and noise.
#include "cgpo/updates/advantage_estimate.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/gradient/first_order.hpp"
#include "cgpo/updates/on_policy.hpp"

#include "probe_task.hpp"

namespace cgpo {
namespace {

using testing::ProbeTask;

struct Estimates {
  std::vector<double> before, after, advantage_based, gradient_based;
};

// A step along the gradient of one signal, of this length.
Estimates estimate(int signal, double length) {
  ThreadPool pool(2);
  AlgorithmContext context{make_task(ProbeTask{}), {}, 3, &pool};
  context.settings.environments = 4096;
  context.settings.policy = {.hidden = {16}, .initial_std = 0.3, .learn_std = false, .last_layer_scale = 1.0};
  context.settings.batch.adaptive = false;
  context.settings.critic.passes = 1e6;
  context.settings.critic.memory = 0;
  context.settings.critic.steps = 400;
  context.settings.critic.hidden = {32};
  context.settings.critic.lambda = 1.0;
  context.settings.update.advantages = AdvantageScale::kRaw;
  OnPolicy machine(context);
  IterationReport report = machine.collect();
  machine.estimate_advantages();  // by critics that know nothing yet,
  machine.fit_critics(report);
  machine.estimate_advantages();  // and by those that do
  FirstOrderGradient<float> first_order(*machine.parts.simulator, machine.parts.policy, machine.parts.batch, 0);
  // The same episodes once more, with what a sweep needs.
  Batch<float> episodes(*machine.parts.simulator, context.settings.environments, machine.parts.horizon,
                        context.settings.kernel.block);
  collect(*machine.parts.simulator, machine.parts.actor(), {.seed = context.seed}, /*deterministic=*/false, pool,
          episodes);
  const GradientEstimate& gradient = first_order.estimate(episodes, machine.parts.actor(), {}, pool);

  const auto k = static_cast<std::size_t>(signal);
  std::vector<double> step = gradient.gradients[k];
  for (double& value : step) value *= length / gradient.norm(k);
  const BatchStatistics now = summarise(machine.parts.batch);
  AlignedVector<float> next = machine.parts.parameters;
  for (std::size_t p = 0; p < next.size(); ++p) next[p] += static_cast<float>(step[p]);
  Estimates result{now.mean, {}, {}, gradient_based_estimate(now, gradient, step)};
  result.advantage_based = advantage_based_estimate(now, machine.samples, next, machine.steps_per_episode(), pool);
  machine.parts.parameters = next;
  machine.parts.collect_episodes(0);
  result.after = summarise(machine.parts.batch).mean;
  return result;
}

TEST(NextPolicy, BothEstimatesPredictShortSteps) {
  for (int signal = 0; signal < 3; ++signal) {
    const auto k = static_cast<std::size_t>(signal);
    const Estimates found = estimate(signal, 0.02);
    const double change = found.after[k] - found.before[k];
    EXPECT_GT(change, 0.0);
    EXPECT_NEAR(found.gradient_based[k] - found.before[k], change, 0.1 * change) << signal;
    EXPECT_NEAR(found.advantage_based[k] - found.before[k], change, 0.3 * change) << signal;
  }
}

TEST(NextPolicy, NoStepNoChange) {
  const Estimates found = estimate(1, 0.0);
  EXPECT_EQ(found.advantage_based, found.before);
  EXPECT_EQ(found.gradient_based, found.before);
}

}  // namespace
}  // namespace cgpo
