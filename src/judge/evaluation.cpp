#include "cgpo/judge/evaluation.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cgpo/algorithms/memory.hpp"
#include "cgpo/run/trained_policy.hpp"
#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {
namespace {

constexpr int kEpisodesAtOnce = 1024;  // bounds the memory

// What is outside makes an environment for each, of a size that only its user knows; as many as trained are no
// surprise. Random numbers follow the episode, so results do not depend on this.
int episodes_at_once(const AlgorithmContext& context) {
  return context.task->has_environments_outside() ? std::min(kEpisodesAtOnce, context.settings.environments)
                                                  : kEpisodesAtOnce;
}

// A policy out of a checkpoint, and what it acts in.
struct Player {
  Player(const AlgorithmContext& context, const Tensors& checkpoint)
      : constraints(resolve_constraints(*context.task, context.settings)),
        simulator(make_simulator<float>(context.task, constraints.costs, context.settings.kernel.backend)),
        policy(context.task->spec(), context.settings, checkpoint) {}
  Actor<float> actor() const { return policy.actor(); }

  Constraints constraints;
  std::unique_ptr<Simulator<float>> simulator;
  LoadedActor policy;
};

RecordedEpisode copy_episode(const TrajectoryBlock<float>& block, int signals) {
  RecordedEpisode episode;
  const auto copy = [](const RowStore<float>& rows, int column) {
    std::vector<double> values;
    for (int i = 0; i < rows.rows(); ++i) values.push_back(rows.view().row(i)[column]);
    return values;
  };
  for (int t = 0; t <= block.simulated; ++t) episode.states.push_back(copy(block.states, t));
  for (int t = 0; t < block.simulated; ++t) {
    episode.observations.push_back(copy(block.observations, t));
    episode.actions.push_back(copy(block.actions, t));
  }
  for (int k = 0; k < signals; ++k) {
    const float* const row = block.signals.view().row(k);
    episode.signals.emplace_back(row, row + block.simulated);
  }
  episode.length = std::min(block.length.front(), block.simulated);
  episode.ended = block.ended.front() != 0 && episode.length < block.horizon;
  episode.diverged = block.diverged.front() != 0;
  return episode;
}

void check_memory_of(const AlgorithmContext& context, int episodes) {
  check_memory(memory_of_evaluation(*context.task, context.settings, episodes, episodes_at_once(context)),
               fmt::format("an evaluation of {} episodes", episodes));
}

Evaluation play(const AlgorithmContext& context, const Player& player, int episodes, bool deterministic) {
  const Constraints& constraints = player.constraints;
  const TaskSpec& spec = context.task->spec();
  Evaluation result;
  result.lattice = spec.lattice_starts ? kEpisodesAtOnce : 0;
  result.costs.resize(constraints.costs.size());
  const int at_once = episodes_at_once(context);
  for (int begin = 0; begin < episodes; begin += at_once) {
    Batch<float> batch(*player.simulator, std::min(at_once, episodes - begin),
                       resolve_horizon(*context.task, context.settings), context.settings.kernel.block, Keep::kOutcome);
    const EpisodeKey key{.seed = context.seed,
                         .reset = Purpose::kEvalReset,
                         .noise = Purpose::kEvalNoise,
                         .first_environment = static_cast<std::uint32_t>(begin)};
    collect(*player.simulator, player.actor(), key, deterministic, *context.pool, batch);
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

}  // namespace

Evaluation evaluate(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, bool deterministic) {
  check_memory_of(context, episodes);
  return play(context, Player(context, checkpoint), episodes, deterministic);
}

BothEvaluations evaluate_both(const AlgorithmContext& context, const Tensors& checkpoint, int episodes) {
  check_memory_of(context, episodes);
  const Player player(context, checkpoint);
  return {play(context, player, episodes, /*deterministic=*/false),
          play(context, player, episodes, /*deterministic=*/true)};
}

std::vector<RecordedEpisode> record_episodes(const AlgorithmContext& context, const Tensors& checkpoint, int episodes,
                                             bool deterministic) {
  check_memory(memory_of_recording(*context.task, context.settings, episodes),
               fmt::format("a recording of {} episodes", episodes));
  const Player player(context, checkpoint);
  // Blocks of one: an episode that ends is not kept running by its neighbours.
  Batch<float> batch(*player.simulator, episodes, resolve_horizon(*context.task, context.settings), /*block_size=*/1,
                     Keep::kOutcome);
  const EpisodeKey key{.seed = context.seed, .reset = Purpose::kEvalReset, .noise = Purpose::kEvalNoise};
  collect(*player.simulator, player.actor(), key, deterministic, *context.pool, batch);
  std::vector<RecordedEpisode> recorded;
  for (const auto& block : batch.blocks) recorded.push_back(copy_episode(block, batch.signals));
  return recorded;
}

}  // namespace cgpo
