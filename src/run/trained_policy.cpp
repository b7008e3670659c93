#include "cgpo/run/trained_policy.hpp"

#include <algorithm>
#include <utility>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

// Bounds the memory of a large batch; an action does not depend on its neighbours.
constexpr int kRowsAtOnce = 1024;

LoadedActor load_actor(const Configuration& configuration, const Tensors& checkpoint,
                       const std::filesystem::path& path) {
  try {
    return {configuration.made->spec(), configuration.settings, checkpoint};
  } catch (const UserError& error) {
    throw UserError("'{}' does not fit its run: {}", path.string(), error.what());
  }
}

}  // namespace

LoadedActor::LoadedActor(const TaskSpec& spec, const Settings& settings, const Tensors& checkpoint)
    : policy_(spec.observations, settings.policy.hidden, spec.actions, settings.policy.learn_std),
      parameters_(static_cast<std::size_t>(policy_.parameter_count())),
      normaliser_(spec.observations) {
  policy_.load(checkpoint, "policy", parameters_);
  normaliser_.load(checkpoint, "normaliser");
}

TrainedPolicy::TrainedPolicy(RunPaths run, std::filesystem::path path, Configuration configuration, Tensors checkpoint)
    : run_(std::move(run)),
      path_(std::move(path)),
      configuration_(std::move(configuration)),
      checkpoint_(std::move(checkpoint)),
      actor_(load_actor(configuration_, checkpoint_, path_)) {}

TrainedPolicy TrainedPolicy::load(const std::filesystem::path& run, SavedPolicy which, const Consent& consent) {
  RunPaths paths = find_run(run);
  Configuration configuration = read_configuration(paths.config(), consent);
  std::filesystem::path path = which == SavedPolicy::kBest ? paths.best() : paths.checkpoint();
  if (std::error_code ignored; which == SavedPolicy::kBest && !std::filesystem::exists(path, ignored)) {
    throw UserError("'{}' has no best.safetensors: no policy of that run was feasible", run.string());
  }
  Tensors checkpoint = read_checkpoint(path, configuration);
  return {std::move(paths), std::move(path), std::move(configuration), std::move(checkpoint)};
}

std::vector<float> TrainedPolicy::act(std::span<const float> observations, std::optional<ActionNoise> noise) const {
  const auto inputs = static_cast<std::size_t>(spec().observations);
  const auto outputs = static_cast<std::size_t>(spec().actions);
  if (observations.size() % inputs != 0) {
    throw UserError("task {} has {} observations a row; {} numbers are no whole rows", spec().name, inputs,
                    observations.size());
  }
  const auto count = static_cast<int>(observations.size() / inputs);
  const Actor<float> actor = actor_.actor();
  const int columns = std::min(count, kRowsAtOnce);
  RowStore<float> raw(spec().observations, columns), x(spec().observations, columns);
  RowStore<float> eps(spec().actions, columns), result(spec().actions, columns);
  RowStore<float> units(actor.policy.unit_count(), columns);
  std::vector<float> actions(static_cast<std::size_t>(count) * outputs);
  for (int begin = 0; begin < count; begin += columns) {
    const int rows = std::min(columns, count - begin);
    for (int r = 0; r < rows; ++r) {
      const std::span<const float> from = observations.subspan(static_cast<std::size_t>(begin + r) * inputs, inputs);
      for (int i = 0; i < spec().observations; ++i) raw.view().row(i)[r] = from[static_cast<std::size_t>(i)];
      if (!noise) continue;
      RandomStream random(noise->seed, Purpose::kEvalNoise, 0, static_cast<std::uint32_t>(begin + r), noise->step);
      for (int a = 0; a < spec().actions; ++a) eps.view().row(a)[r] = static_cast<float>(random.normal());
    }
    actor.normaliser.normalise(std::as_const(raw).view(), x.view(), rows);
    // Without noise the rows are 0 and not left out, as in a rollout.
    actor.policy.forward(actor.parameters, std::as_const(x).view(), std::as_const(eps).view(), units.view(),
                         result.view(), rows);
    for (int r = 0; r < rows; ++r) {
      for (std::size_t a = 0; a < outputs; ++a)
        actions[static_cast<std::size_t>(begin + r) * outputs + a] = result.view().row(static_cast<int>(a))[r];
    }
  }
  return actions;
}

}  // namespace cgpo
