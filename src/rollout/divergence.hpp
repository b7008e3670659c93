// How many episodes of a batch may diverge. Means are over those that are left, and these look better and safer than
// the policy is: with too many gone they say nothing of it.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace cgpo {

// Too many for a verdict: more than 1 %, of fewer than 100 more than one, or all. Such a policy is never feasible and
// never the best, wherever it is judged. `episodes` counts those that diverged, too; 0: not known, and as if few.
constexpr bool too_many_diverged(std::int64_t diverged, std::int64_t episodes) {
  const bool none_left = diverged > 0 && diverged == episodes;
  return none_left || (diverged > 1 && 100 * diverged > episodes);
}

// Too many for an update, which costs little to leave out: more than 1 %, so of fewer than 100 one is enough.
constexpr bool refuses_update(std::int64_t diverged, std::int64_t episodes) { return 100 * diverged > episodes; }

// "8 of 8 episodes diverged".
inline std::string diverged_words(std::int64_t diverged, std::int64_t episodes) {
  return episodes > 0 ? fmt::format("{} of {} episodes diverged", diverged, episodes)
                      : fmt::format("{} episode{} diverged", diverged, diverged == 1 ? "" : "s");
}

}  // namespace cgpo
