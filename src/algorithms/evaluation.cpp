#include "cgpo/algorithms/evaluation.hpp"

#include <algorithm>

#include "cgpo/algorithms/actor_critic.hpp"

namespace cgpo {
namespace {

constexpr int kEpisodesAtOnce = 1024;  // bounds the memory

}  // namespace

Evaluation evaluate(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, bool deterministic) {
  const Constraints constraints = resolve_constraints(*context.task, context.settings);
  const TaskSpec& spec = context.task->spec();
  const std::unique_ptr<Simulator<float>> simulator =
      make_simulator<float>(context.task, constraints.costs, context.settings.kernel.backend);
  const Policy<float> policy(spec.observations, context.settings.policy.hidden, spec.actions,
                             context.settings.policy.learn_std);
  AlignedVector<float> parameters(static_cast<std::size_t>(policy.parameter_count()));
  Normaliser<float> normaliser(spec.observations);
  policy.load(checkpoint, "policy", parameters);
  normaliser.load(checkpoint, "normaliser");

  Evaluation result;
  result.lattice = spec.lattice_starts ? kEpisodesAtOnce : 0;
  result.costs.resize(constraints.costs.size());
  for (int begin = 0; begin < episodes; begin += kEpisodesAtOnce) {
    Batch<float> batch(*simulator, std::min(kEpisodesAtOnce, episodes - begin),
                       resolve_horizon(*context.task, context.settings), context.settings.kernel.block, Keep::kOutcome);
    const EpisodeKey key{.seed = context.seed,
                         .reset = Purpose::kEvalReset,
                         .noise = Purpose::kEvalNoise,
                         .first_environment = static_cast<std::uint32_t>(begin)};
    collect(*simulator, Actor<float>{policy, parameters, normaliser}, key, deterministic, *context.pool, batch);
    for (const auto& block : batch.blocks) {
      for (int lane = 0; lane < block.lanes(); ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        if (block.diverged[l] != 0) {
          ++result.diverged;
          continue;
        }
        result.returns.push_back(block.sums[l]);
        result.returns_paper.push_back(block.paper_sums[l]);
        result.lengths.push_back(block.length[l]);
        for (std::size_t i = 0; i < result.costs.size(); ++i)
          result.costs[i].push_back(block.sums[(i + 1) * static_cast<std::size_t>(block.lanes()) + l]);
      }
    }
  }
  return result;
}

}  // namespace cgpo
