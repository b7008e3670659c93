// Return and costs of a comparison's algorithms over their trainings, as numbers and as a picture.
#pragma once

#include <string>

#include "cgpo/campaign/comparison.hpp"

namespace cgpo {

// A line an iteration: mean over the seeds and 95 % interval. Seeds are averaged at the same iteration, and so are the
// steps and seconds they had taken by then.
std::string curve_csv(const Comparison& comparison, const ComparedAlgorithm& algorithm);
std::string curve_file(const ComparedAlgorithm& algorithm);  // its name

// Draws curves.svg from the CSV files beside it: return and each cost, against steps and against seconds.
std::string curve_script(const Comparison& comparison);

}  // namespace cgpo
