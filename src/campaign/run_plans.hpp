// Private to this folder: what there is of a comparison on the disk, and what is to be done about each of its runs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cgpo/campaign/variants.hpp"

namespace cgpo {

// What a folder of a comparison holds beside its runs.
struct ComparisonPaths {
  std::filesystem::path folder;

  std::filesystem::path marker() const { return folder / "comparison.json"; }  // says that it is one, and of which task
  std::filesystem::path table() const { return folder / "table.md"; }
  std::filesystem::path json() const { return folder / "table.json"; }
};
ComparisonPaths paths_of(const CompareRequest& request);

// Reads only. Throws UserError unless the folder is new, empty or a comparison of this task.
void check_folder(const ComparisonPaths& paths, const std::string& task);

// What an algorithm cannot do with a task it says when it is made, by UserError. One that has begun here before can,
// and a simulator outside is not started for that.
void check_that_they_can_begin(const std::vector<Variant>& variants, const ComparisonPaths& paths);

// How a run is brought to its end.
enum class Begin { kFinished, kNew, kAnew, kResume };
struct RunPlan {
  Begin begin = Begin::kNew;
  int done = 0;        // iterations
  std::string damage;  // not empty: why what is there cannot be continued; it is moved aside
};
using RunPlans = std::map<std::string, RunPlan>;  // by the run's name

// Reads only. Throws UserError if one of them is another process's, or was made with other settings.
RunPlans plan_runs(const std::vector<Variant>& variants, const ComparisonPaths& paths);

// Out of the way, but not lost.
std::filesystem::path move_aside(const std::filesystem::path& folder);

// The command that trains it.
std::vector<std::string> train_words(const Variant& variant, const Configuration& configuration,
                                     const std::filesystem::path& folder, Begin begin, int threads);

}  // namespace cgpo
