// The gradient that a twin lends, held against score functions, which need no derivative and are right in the mean.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {

// Of two gradients, without what sampling noise adds to their lengths; so a noisy one may come out above 1.
struct GradientCosine {
  double cosine = 0.0;  // NaN: one of them may be no more than noise
  double error = 0.0;   // standard error, by leaving out one batch after the other
};

// The gradient that somebody takes of parts.batch.
using GradientOfBatch = std::function<const GradientEstimate&(const ActorCritic<float>& parts)>;

// For every source and signal, from so many batches as large as parts.batch, which is overwritten. Scores are weighted
// by what came less what the critics, who have not seen these episodes, expected.
std::vector<std::vector<GradientCosine>> compare_with_scores(ActorCritic<float>& parts, const EpisodeKey& first_batch,
                                                             int batches, std::span<const GradientOfBatch> sources);
// The same of the simulator's own sweep alone, for every signal.
std::vector<GradientCosine> compare_with_scores(ActorCritic<float>& parts, const EpisodeKey& first_batch, int batches);
// That sweep, in the windows that the settings ask for; it looks at `parts` as long as it is used.
GradientOfBatch sweep_of(const ActorCritic<float>& parts);

// The same of gradients of independent batches.
GradientCosine cosine_of(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b);

}  // namespace cgpo
