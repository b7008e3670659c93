// What a run is: task, algorithm, seed and every setting, from what the user said to the file that repeats the run.
//
// Later ones win: the program's defaults, what the task says of itself (TaskSpec::defaults), the blocks of
// defaults.toml (tasks, presets, algorithms), the --config file, --set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/config/value.hpp"
#include "cgpo/taskfile/task_file.hpp"
#include "cgpo/tasks/options.hpp"
#include "cgpo/tasks/task.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

// Who gave a key its value, and why, where that was said.
struct SettingOrigin {
  std::string who;  // "task ant", "preset paper", "--set", "f.toml, line 3"
  std::string why;
  bool given = false;  // by the user, in a file or on the command line
};

struct Configuration {
  std::string task;                            // `task.name` in a file, since `task` is the section of its options
  std::shared_ptr<const TaskFile> definition;  // the file that defines it; null: the program does
  std::string algorithm = "cgpo";
  std::string preset = "best";
  std::string init;  // folder of the run whose policy was the first; empty: none
  std::uint64_t seed = 0;
  Settings settings;  // with the task's horizon, costs and limits filled in
  TaskOptions task_options;
  std::map<std::string, SettingOrigin> origins;  // by key; those that are not here have the program's default
  std::shared_ptr<const Task> made;  // the task with these options; null: they have changed, and it is yet to be made
};

// What a user vouches for of a file, which may be somebody else's. It starts no program by itself: an option of its
// task that `executes`, as task.command does, counts only if it is allowed or given again.
struct Consent {
  bool commands = false;               // what the file says may be started
  std::vector<Assignment> given = {};  // such options given again, in place of the file's; others do not count here
};

// What the user asked for. The named ones are those of the command line, and win over the same keys of the file.
struct ConfigurationRequest {
  std::optional<std::string> task;  // a name, or a task file
  std::optional<std::string> algorithm;
  std::optional<std::string> preset;
  std::optional<std::string> init;
  std::optional<std::int64_t> seed;
  std::vector<Assignment> file;
  std::filesystem::path folder = {};  // of that file: a task file that it names is there
  std::vector<Assignment> sets;
  bool allow_commands = false;  // `file` may start programs (see Consent); `sets`, which the user gave, always may
};

// Throws UserError for whatever is wrong with the request: an unknown name, a value of the wrong type or out of range,
// settings that contradict each other.
Configuration resolve_configuration(const ConfigurationRequest& request);

// The same for a request that names no task: what tasks set is left out, and so are horizon, costs and limits.
Configuration resolve_without_task(const ConfigurationRequest& request);

// Other options of the same task, for a policy that is trained already. UserError for any other key.
void change_task_options(const std::vector<Assignment>& sets, Configuration& configuration);

// The task with its options. It is made once: a simulator outside may take seconds to start.
std::shared_ptr<const Task> task_of(const Configuration& configuration);

// What the program knows of a task, or its file says.
const TaskEntry& entry_of(const Configuration& configuration);

// A run keeps its task file under this name.
inline constexpr const char* kDefinitionName = "definition.toml";

// The name of a task that is given by name or by file.
std::string task_name(const std::string& task);
// What names the task of a configuration on a command line.
std::string task_word(const Configuration& configuration);

// What an algorithm of this configuration starts from; `pool` must outlive it.
AlgorithmContext context_of(const Configuration& configuration, ThreadPool& pool);

// Whether the user gave this key, in a file or on the command line.
bool is_given(const Configuration& configuration, const std::string& key);

Value value_of(const OptionValue& option);

// Key by key, as text.
struct ConfigurationLine {
  std::string key;
  std::string value;  // as TOML
  std::string help;
};
std::vector<ConfigurationLine> configuration_lines(const Configuration& configuration);

// As TOML, with a comment for each key. resolve_configuration gives the same configuration back.
std::string write_configuration(const Configuration& configuration);

// Of a file that write_configuration wrote.
Configuration read_configuration(const std::filesystem::path& path, const Consent& consent = {});
// The same to be compared with `other`, whose task serves here too if it is the same one. A program that `other` does
// not name is not started: then, too, it is the task of `other` that fills in.
Configuration read_configuration(const std::filesystem::path& path, const Configuration& other);

// Whether this is an option that starts a program, of any task.
bool starts_program(const std::string& key);
// Its own options that do, as they would be given again; empty: none.
Consent consent_to_same(const Configuration& configuration);

// A key on which two configurations differ.
struct SettingDifference {
  std::string key;
  std::string before;
  std::string after;
};
std::vector<SettingDifference> differences(const Configuration& before, const Configuration& after);

// Whether a run can go on with these settings; throws UserError, naming the key, if anything differs that may not.
void check_continues(const Configuration& before, const Configuration& after, const std::filesystem::path& stored);

// All that a run keeps for life, as text: the same for two configurations if and only if one may go on where the other
// stopped. How a simulator outside is started (task.command) is not part of it.
std::string lasting_configuration(const Configuration& configuration);

// The stored configuration of a run that goes on. What the request says again must be the same, but for `iterations`,
// which may change; throws UserError, naming the key, if anything else does.
Configuration continue_configuration(const std::filesystem::path& stored, const ConfigurationRequest& request);

}  // namespace cgpo
