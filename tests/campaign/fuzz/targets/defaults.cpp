// The TOML text that holds the defaults of tasks, presets and algorithms.
#include "cgpo/config/defaults.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  const auto blocks = fuzz::accepted([&] { return parse_defaults(input, "fuzz.toml"); });
  if (!blocks) return;
  for (const DefaultsBlock& block : *blocks)
    fuzz::require(!block.set.empty() && !block.why.empty(), "a block says what and why");
}
