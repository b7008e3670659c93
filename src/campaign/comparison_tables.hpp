// What a comparison says, as Markdown for people and as JSON for programs.
#pragma once

#include <string>

#include "cgpo/base/json.hpp"
#include "cgpo/campaign/comparison.hpp"

namespace cgpo {

// A line an algorithm.
std::string comparison_table(const Comparison& comparison);
// The same for the evaluations of the last policies, and a line for each of them.
std::string evaluation_table(const Comparison& comparison);
std::string evaluated_runs_table(const Comparison& comparison);
// The runs in which too many episodes diverged, below a heading; empty if there are none.
std::string diverged_runs(const Comparison& comparison);
// The runs that did not finish, with the reason, below a heading; empty if all did.
std::string unfinished_runs(const Comparison& comparison);
// All tables with the settings they were made with, and what failed.
std::string comparison_markdown(const Comparison& comparison);

Json comparison_json(const Comparison& comparison);

}  // namespace cgpo
