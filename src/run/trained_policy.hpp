// A policy that a run left behind, ready to act: no simulator, no training, nothing of the caller's to keep alive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cgpo/rollout/collect.hpp"
#include "cgpo/run/run_folder.hpp"

namespace cgpo {

// Policy and normaliser out of a checkpoint, for a task of these sizes. Throws UserError if it does not fit.
class LoadedActor {
 public:
  LoadedActor(const TaskSpec& spec, const Settings& settings, const Tensors& checkpoint);
  Actor<float> actor() const { return {policy_, parameters_, normaliser_}; }

 private:
  Policy<float> policy_;
  AlignedVector<float> parameters_;
  Normaliser<float> normaliser_;
};

enum class SavedPolicy { kLast, kBest };  // after the last iteration; the best feasible one that the run has seen

// Which noise: row i of a call has that of environment i at this step of an evaluation with this seed.
struct ActionNoise {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
};

class TrainedPolicy {
 public:
  // Throws UserError if there is no run at this place, no such policy, or it does not fit the run; also if its task is
  // a program outside, which a folder starts only with consent.
  static TrainedPolicy load(const std::filesystem::path& run, SavedPolicy which = SavedPolicy::kLast,
                            const Consent& consent = {});

  const Configuration& configuration() const { return configuration_; }
  const TaskSpec& spec() const { return configuration_.made->spec(); }
  const RunPaths& run() const { return run_; }
  const std::filesystem::path& path() const { return path_; }  // of the checkpoint
  const Tensors& checkpoint() const { return checkpoint_; }    // all of it, critics too

  // Actions, each within ±1, for observations as the task gives them: count × spec().observations numbers, row by row,
  // to count × spec().actions. The same bits as a rollout has. Without noise: the mean, squashed. May be called from
  // several threads.
  std::vector<float> act(std::span<const float> observations, std::optional<ActionNoise> noise = {}) const;

 private:
  TrainedPolicy(RunPaths run, std::filesystem::path path, Configuration configuration, Tensors checkpoint);

  RunPaths run_;
  std::filesystem::path path_;
  Configuration configuration_;
  Tensors checkpoint_;
  LoadedActor actor_;
};

}  // namespace cgpo
