// Policy × simulator × N environments → episodes.
#pragma once

#include "cgpo/nn/policy.hpp"
#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

// A policy as it stands: what acts during a rollout.
template <class Real>
struct Actor {
  const Policy<Real>& policy;
  std::span<const Real> parameters;
  const Normaliser<Real>& normaliser;
};

// Which random numbers the episodes use. Environment i of the batch draws from stream first_environment + i·every.
struct EpisodeKey {
  std::uint64_t seed = 0;
  Purpose reset = Purpose::kReset;
  Purpose noise = Purpose::kNoise;
  std::uint32_t iteration = 0;
  std::uint32_t first_environment = 0;
  // These are environments 0, every, 2·every, … of a batch with so many; 0: they are all of it. Spread like that they
  // are spread over a lattice of starts, too.
  int of = 0;
  int every = 1;
};

// Fills the batch with one episode for every environment. An environment whose state, observation or signals stop being
// finite, or whose state leaves the task's bound, has diverged: it is frozen where it was and flagged, and nobody else
// notices. With `deterministic` the noise is 0.
template <class Real>
void collect(const Simulator<Real>& simulator, const Actor<Real>& actor, const EpisodeKey& key, bool deterministic,
             ThreadPool& pool, Batch<Real>& batch);

}  // namespace cgpo
