// The gradient that a twin lends, held against score functions, which need no derivative and are right in the mean.
#pragma once

#include <vector>

#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {

// Of two gradients, without what sampling noise adds to their lengths; so a noisy one may come out above 1.
struct GradientCosine {
  double cosine = 0.0;  // NaN: one of them may be no more than noise
  double error = 0.0;   // standard error, by leaving out one batch after the other
};

// For every signal, from so many batches as large as parts.batch, which is overwritten. Scores are weighted by what
// came less what the critics, who have not seen these episodes, expected.
std::vector<GradientCosine> compare_with_scores(ActorCritic<float>& parts, const EpisodeKey& first_batch, int batches);

// The same of gradients of independent batches.
GradientCosine cosine_of(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b);

}  // namespace cgpo
