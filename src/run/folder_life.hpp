// Private to this folder: the states of a run's folder and the moves between them; run_folder.hpp says which they are.
#pragma once

#include <string>
#include <vector>

#include "cgpo/run/run_folder.hpp"

namespace cgpo {

enum class FolderState { kEmpty, kBegun, kRun, kBeingReplaced, kForeign };

// Reads only. A folder that is not there is empty.
FolderState look_at(const RunPaths& run);

// The numbers of the files NNN.safetensors in a folder, in order; files of other names are not ours.
std::vector<int> find_numbered(const std::filesystem::path& folder, int digits);

// Brings a folder that a process left behind in the middle of something into one of the other states, without loss.
// Returns what was found, in sentences. The caller holds the lock.
std::vector<std::string> mend(const RunPaths& run);

void move_aside(const RunPaths& run);     // a run: all of it to .replaced, where it is whole
void remove_begun(const RunPaths& run);   // what is there of a run that has not begun
void take_back(const RunPaths& run);      // removes a new run, and puts back the one that was moved aside for it
void drop_replaced(const RunPaths& run);  // for the new run is whole

}  // namespace cgpo
