// What tasks, presets and algorithms set on top of the program's defaults: the blocks of defaults.toml. A task that is
// not the program's own says it in TaskSpec::defaults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cgpo/config/value.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

struct DefaultsBlock {
  std::vector<std::string> tasks;  // for which it is, of each kind; empty: for all
  std::vector<std::string> presets;
  std::vector<std::string> algorithms;
  std::string why;
  std::vector<Assignment> set;  // in the order of settings_keys()
};

// Throws UserError, with name and line, for what is not a block, and for a key or value that does not exist.
std::vector<DefaultsBlock> parse_defaults(std::string_view text, const std::string& name);

// The program's own.
const std::vector<DefaultsBlock>& shipped_defaults();
std::string_view defaults_text();

// Which run blocks are looked for; no task: only those that are for all tasks.
struct DefaultsFor {
  std::string task;
  std::string preset;
  std::string algorithm;
};
// In the order in which they are applied.
std::vector<const DefaultsBlock*> blocks_for(const DefaultsFor& run);

// What the task says of itself, which comes before all blocks.
std::vector<Assignment> own_defaults(const TaskSpec& spec, const std::string& origin);

// For listings: whatever the task sets in itself or in the blocks that are for it alone, and the same of an algorithm.
std::vector<Assignment> defaults_of_task(const TaskSpec& spec);
std::vector<Assignment> defaults_of_algorithm(const std::string& name);

const std::vector<std::string>& preset_names();
void check_preset(const std::string& name);  // throws UserError, with the nearest name, if there is none

}  // namespace cgpo
