// Whose gradients are better on a simulator without derivatives: those of a twin, or those of the model that mb-cgpo
// has learned? Both are taken of the same episodes of a run of mb-cgpo, with the same critics and windows, and held
// against score functions. The twin is fitted to a few batches before. A row for each run.
//   twin_or_model RUN…
#include <algorithm>
#include <fmt/format.h>

#include "cgpo/algorithms/model_based.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/run/trained_policy.hpp"
#include "cgpo/studies/twin_gradient.hpp"
#include "cgpo/world/world_simulator.hpp"

namespace cgpo {
namespace {

constexpr int kEpisodes = 1024;  // scores of little noise need many
constexpr int kBatches = 16;
constexpr int kFits = 10;  // batches before those that are compared, of which the twin learns

// Through the model, along the real states or along what it makes of each window, as the run's own gradients went.
GradientOfBatch model_of(const ActorCritic<float>& parts, const WorldSimulator<float>& simulator) {
  const Settings& settings = parts.context.settings;
  const int window = std::min(settings.window, parts.horizon);
  const Replay replay = settings.world.states == WorldStates::kReal ? Replay::kStates : Replay::kNoise;
  auto imagined =
      std::make_shared<Batch<float>>(simulator, parts.batch.environments, parts.horizon, settings.kernel.block);
  auto sweep =
      std::make_shared<FirstOrderGradient<float>>(simulator, parts.policy, *imagined, window, horizon_rule(settings));
  return [=, &simulator](const ActorCritic<float>& now) -> const GradientEstimate& {
    imagine(simulator, now.actor(), now.batch, window, replay, *now.context.pool, *imagined);
    return sweep->estimate(*imagined, now.actor(), now.critics, *now.context.pool);
  };
}

// The twin's with other parameters; it has its own again afterwards.
GradientOfBatch sweep_with(const ActorCritic<float>& parts, const std::vector<double>& parameters) {
  return [sweep = sweep_of(parts), parameters](const ActorCritic<float>& now) -> const GradientEstimate& {
    now.simulator->set_parameters(parameters);
    const GradientEstimate& estimate = sweep(now);
    now.simulator->set_parameters(now.twin->parameters());
    return estimate;
  };
}

std::string text_of(const GradientCosine& of) { return fmt::format("{:.2f} ± {:.2f}", of.cosine, of.error); }

std::vector<std::string> row_of(const std::string& folder, ThreadPool& pool) {
  const TrainedPolicy policy = TrainedPolicy::load(folder);
  AlgorithmContext context = context_of(policy.configuration(), pool);
  const int iterations = context.settings.iterations;
  context.settings.environments = kEpisodes;
  ActorCritic<float> parts(context);
  if (parts.twin == nullptr) throw UserError("{}: the task of this run has no twin", folder);
  parts.load_policy(policy.checkpoint());
  parts.load_critics(policy.checkpoint());
  WorldModel<float> model(transition_shape(*context.task, parts.constraints.costs), context.settings.world);
  model.load(policy.checkpoint(), "world");
  const WorldSimulator<float> simulator(*context.task, parts.constraints.costs, model);

  EpisodeKey key{.seed = context.seed, .reset = Purpose::kEvalReset, .noise = Purpose::kEvalNoise};
  IterationReport report;
  const std::vector<double> before = parts.twin->parameters();
  for (int i = 0; i < kFits; ++i, ++key.iteration) {
    collect(*parts.simulator, parts.actor(), key, /*deterministic=*/false, pool, parts.batch);
    parts.fit_twin(report);
  }
  const std::vector<GradientOfBatch> sources = {sweep_with(parts, before), sweep_of(parts), model_of(parts, simulator)};
  const auto cosines = compare_with_scores(parts, key, kBatches, sources);
  std::vector<std::string> row = {policy.configuration().task, fmt::format("{}", iterations),
                                  fmt::format("{:.2f}", report.twin_error.value_or(0.0))};
  for (const std::size_t signal : {0, 1}) {
    for (const std::vector<GradientCosine>& source : cosines) row.push_back(text_of(source[signal]));
  }
  return row;
}

}  // namespace
}  // namespace cgpo

int main(int argc, char** argv) {
  try {
    cgpo::ThreadPool pool(2);
    std::vector<std::vector<std::string>> rows = {{"task", "after iterations", "the fitted twin's one-step error",
                                                   "return: twin", "fitted", "learned model", "cost: twin", "fitted",
                                                   "learned model"}};
    for (int i = 1; i < argc; ++i) rows.push_back(cgpo::row_of(argv[i], pool));
    fmt::print("{}", cgpo::markdown_table(rows));
  } catch (const cgpo::UserError& error) {
    fmt::print(stderr, "twin_or_model: {}\n", error.what());
    return 2;
  }
}
