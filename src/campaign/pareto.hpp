// Speed against safety in one picture: steps until a run converged, strictly, and the share of its updates that were
// over the limit. One point a seed.
#pragma once

#include <string>
#include <vector>

#include "cgpo/campaign/comparison.hpp"

namespace cgpo {

// A line a seed that finished: whether it converged, after how many steps (of one that did not: all that it took), and
// the share of its updates that were over a limit.
std::string pareto_csv(const Comparison& comparison, const ComparedAlgorithm& algorithm);
std::string pareto_file(const ComparedAlgorithm& algorithm);  // its name

// Whether there is anything to draw: a run that finished, and a limit.
bool has_pareto(const Comparison& comparison);

// One panel of the picture: a comparison, and where its CSV files lie as seen from the script ("" or "FOLDER/").
struct ParetoPanel {
  const Comparison* comparison = nullptr;
  std::string folder = {};
};
// Draws NAME.svg. Runs that did not converge stand at the right edge, hollow.
std::string pareto_script(const std::string& name, const std::vector<ParetoPanel>& panels);

}  // namespace cgpo
