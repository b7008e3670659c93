// Private to this folder: the commands, one file each, and one table of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cgpo/cli/flags.hpp"

namespace cgpo {

using Given = std::function<bool(const std::string& flag)>;  // whether the user gave it

// What a command takes, and what it does once its flags' targets are filled; the exit code. It owns the targets.
struct Command {
  std::vector<Flag> flags;
  std::function<int(const Given&)> run;
};

struct CommandEntry {
  std::string name;
  std::string summary;
  Command (*make)();
};
const std::vector<CommandEntry>& all_commands();  // in the order in which they are listed

Command make_tasks_command();
Command make_algorithms_command();
Command make_settings_command();
Command make_model_command();
Command make_check_command();
Command make_train_command();
Command make_eval_command();
Command make_export_command();
Command make_compare_command();
Command make_bench_command();
Command make_report_command();
Command make_replay_command();
Command make_reproduce_command();

}  // namespace cgpo
