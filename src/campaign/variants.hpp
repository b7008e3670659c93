// Private to this folder: the entries of a comparison, from --algos and --vary to configurations.
#pragma once

#include <string>
#include <vector>

#include "cgpo/base/listener.hpp"
#include "cgpo/campaign/compare.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {

// NAME[@PRESET][:KEY=VALUE]…, with the configuration of each of its seeds.
struct Variant {
  std::string label;
  std::vector<std::string> sets;  // KEY=VALUE: those for all, then its own
  std::vector<Configuration> configurations;
};

// Throws UserError for what is wrong with an entry, and for entries that cannot be compared. A varied one that is the
// same as an earlier one is left out, and the listener is told.
std::vector<Variant> resolve_variants(const CompareRequest& request, const Listener& listener);

// The name of the run's folder.
std::string run_name(const std::string& label, std::uint64_t seed);

}  // namespace cgpo
