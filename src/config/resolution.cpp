// From what the user said to a configuration: see configuration.hpp for the order in which sources win.
#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/config/defaults.hpp"
#include "cgpo/config/history.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {
namespace {

const std::string kTaskPrefix = "task.";

// Keys that have an argument of their own on the command line.
constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
    {"task.name", "TASK"}, {"algorithm", "--algo"}, {"preset", "--preset"}, {"init", "--init"}, {"seed", "--seed"}};

// Runs `apply`; what it throws gets the place where the value came from.
template <class Apply>
void with_origin(const Assignment& assignment, const Apply& apply) {
  try {
    apply();
  } catch (const UserError& error) {
    throw UserError("{}: {}", assignment.origin, error.what());
  }
}

const std::string& text_of(const Assignment& assignment) {
  const auto* text = std::get_if<std::string>(&assignment.value.data);
  if (text == nullptr) {
    throw UserError("{}: {} must be a text, not {}", assignment.origin, assignment.key, format_value(assignment.value));
  }
  return *text;
}

// A task file that a configuration names, and what it was when that was written.
struct KeptDefinition {
  std::string name;
  std::string checksum;
  std::string origin;
};

// The keys that say which run it is; the rest are settings. Returns whether this is one of them.
bool read_identity(const Assignment& assignment, Configuration& configuration, KeptDefinition& kept) {
  if (assignment.key == "task.name") {
    configuration.task = text_of(assignment);
  } else if (assignment.key == "task.definition") {
    kept.name = text_of(assignment);
    kept.origin = assignment.origin;
    if (std::filesystem::path(kept.name).filename() != kept.name) {
      throw UserError("{}: task.definition is the name of a file beside this one, not '{}'", kept.origin, kept.name);
    }
  } else if (assignment.key == "task.checksum") {
    kept.checksum = text_of(assignment);
  } else if (assignment.key == "algorithm") {
    configuration.algorithm = text_of(assignment);
  } else if (assignment.key == "preset") {
    configuration.preset = text_of(assignment);
  } else if (assignment.key == "init") {
    configuration.init = text_of(assignment);
  } else if (assignment.key == "seed") {
    const auto* seed = std::get_if<std::int64_t>(&assignment.value.data);
    if (seed == nullptr || *seed < 0) {
      throw UserError("{}: seed must be a whole number from 0 to {}, not {}", assignment.origin,
                      std::numeric_limits<std::int64_t>::max(), format_value(assignment.value));
    }
    configuration.seed = static_cast<std::uint64_t>(*seed);
  } else {
    return false;
  }
  return true;
}

// A run's folder keeps it as TOML, which is UTF-8.
void check_init(const std::string& init) {
  if (!is_utf8(init)) throw UserError("--init: the name '{}' is not UTF-8", init);
}

// The file that the user names now must be the one that a run began with; the copy serves if it is named no more.
std::shared_ptr<const TaskFile> resolve_definition(const ConfigurationRequest& request, const KeptDefinition& kept) {
  std::shared_ptr<const TaskFile> given;
  if (request.task && is_task_file(*request.task)) given = TaskFile::read(*request.task);
  if (kept.name.empty() || (given != nullptr && given->checksum() == kept.checksum)) return given;
  const std::filesystem::path path = request.folder / kept.name;
  if (given != nullptr) {
    throw UserError(
        "'{}', or its robot, has changed since the run began, which keeps its own task as '{}'; name that one, or "
        "begin a new run",
        *request.task, path.string());
  }
  std::shared_ptr<const TaskFile> copy = TaskFile::read(path);
  if (copy->checksum() != kept.checksum) {
    throw UserError("'{}' has changed since the run began; put back what it was, or begin a new run from it",
                    path.string());
  }
  return copy;
}

// Whether a configuration and another one have the same task, before its options.
bool same_task(const Configuration& a, const Configuration& b) {
  const auto checksum = [](const Configuration& c) { return c.definition == nullptr ? "" : c.definition->checksum(); };
  return a.task == b.task && checksum(a) == checksum(b);
}

// Takes the identity out of file and command line, and returns the assignments that are left; those of the file first.
struct RequestedSettings {
  std::vector<Assignment> all;
  std::size_t of_file = 0;
};
RequestedSettings resolve_identity(const ConfigurationRequest& request, Configuration& configuration) {
  RequestedSettings requested;
  std::vector<Assignment>& rest = requested.all;
  KeptDefinition kept;
  for (const Assignment& assignment : request.file) {
    if (!read_identity(assignment, configuration, kept)) rest.push_back(assignment);
  }
  requested.of_file = rest.size();
  for (const Assignment& assignment : request.sets) {
    for (const auto& [key, flag] : kFlags) {
      if (key == assignment.key)
        throw UserError("{}: {} is not set but given as {}", assignment.origin, assignment.key, flag);
    }
    rest.push_back(assignment);
  }
  configuration.definition = resolve_definition(request, kept);
  if (configuration.definition == nullptr && is_task_file(configuration.task)) {  // the file names a task file
    configuration.definition = TaskFile::read(request.folder / configuration.task);
    configuration.task = configuration.definition->entry().name;
  }
  const bool by_file = request.task && is_task_file(*request.task);
  const std::optional<std::string> task = by_file ? configuration.definition->entry().name : request.task;
  if (task && !configuration.task.empty() && *task != configuration.task) {
    throw UserError("the configuration is for task '{}', not '{}'", configuration.task, *task);
  }
  if (task) configuration.task = *task;
  if (request.algorithm) configuration.algorithm = *request.algorithm;
  if (request.preset) configuration.preset = *request.preset;
  if (request.init) configuration.init = *request.init;
  if (request.seed) configuration.seed = static_cast<std::uint64_t>(*request.seed);
  check_init(configuration.init);
  return requested;
}

// Names the keys of the same section, or, if there is no such section, the sections that there are.
[[noreturn]] void throw_unknown(const std::string& name, const TaskOptions& options) {
  if (const RetiredKey* retired = find_retired_key(name)) throw UserError("{} {}", name, retired->successor);
  std::vector<std::string> all;
  for (const Key& key : settings_keys()) all.emplace_back(key.name);
  for (const TaskOption& option : options.known()) all.push_back(option.key());
  const std::string section = section_of(name);
  const bool known_section =
      std::any_of(all.begin(), all.end(), [&](const std::string& key) { return section_of(key) == section; });
  std::vector<std::string> shown;
  std::set<std::string> sections = {kTaskPrefix + "*"};
  for (const std::string& key : all) {
    if (section_of(key) == (known_section ? section : "")) shown.push_back(key);
    if (!section_of(key).empty()) sections.insert(section_of(key) + ".*");
  }
  if (section.empty() || !known_section) shown.insert(shown.end(), sections.begin(), sections.end());
  throw UserError("unknown key '{}'{}; there are: {}", name, did_you_mean(name, all), fmt::join(shown, ", "));
}

void assign(const Assignment& assignment, const SettingOrigin& origin, Configuration& configuration) {
  with_origin(assignment, [&] {
    const Key* key = find_key(assignment.key);
    if (key == nullptr) throw_unknown(assignment.key, configuration.task_options);
    key->set(configuration.settings, assignment.value);
  });
  configuration.origins[assignment.key] = origin;
}

OptionValue option_value(const Assignment& assignment) {
  if (const auto* flag = std::get_if<bool>(&assignment.value.data)) return *flag;
  if (const auto* text = std::get_if<std::string>(&assignment.value.data)) return *text;
  if (const auto* number = std::get_if<double>(&assignment.value.data)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&assignment.value.data)) return static_cast<double>(*integer);
  throw UserError("{} cannot be a list", assignment.key);
}

// confirmed: the user says so, not only a file.
void assign_task_option(const Assignment& assignment, bool confirmed, Configuration& configuration) {
  with_origin(assignment, [&] {
    TaskOptions& options = configuration.task_options;
    const bool in_section = assignment.key.starts_with(kTaskPrefix);
    const std::string name = in_section ? assignment.key.substr(kTaskPrefix.size()) : assignment.key;
    if (confirmed) {
      options.set(name, option_value(assignment));
    } else {
      options.set_unconfirmed(name, option_value(assignment), assignment.origin);
    }
  });
  configuration.origins[assignment.key] = {assignment.origin, "", /*given=*/true};
}

bool is_task_option(const Assignment& assignment, const TaskOptions& options) {
  return assignment.key.starts_with(kTaskPrefix) || options.find(assignment.key) != nullptr;
}

// What no key can say about itself.
void check_together(const Settings& settings) {
  const RadiusSettings& radius = settings.radius;
  if (radius.lower > radius.upper) {
    throw UserError("radius.lower ({}) must not be above radius.upper ({})", radius.lower, radius.upper);
  }
  if (radius.initial < radius.lower || radius.initial > radius.upper) {
    throw UserError("radius.initial ({}) must lie between radius.lower ({}) and radius.upper ({})", radius.initial,
                    radius.lower, radius.upper);
  }
  if (radius.eta_low >= radius.eta_high) {
    throw UserError("radius.eta_low ({}) must be below radius.eta_high ({})", radius.eta_low, radius.eta_high);
  }
  check_batch_size(settings.environments, settings.horizon);
  if (settings.window > settings.horizon) {
    throw UserError("window ({}) must not be longer than the horizon ({})", settings.window, settings.horizon);
  }
}

// Who it is that sets a block's keys in this run.
std::string who_sets(const DefaultsBlock& block, const Configuration& configuration) {
  std::string who;
  const auto add = [&](const std::vector<std::string>& names, const char* kind, const std::string& name) {
    if (!names.empty()) who += fmt::format("{}{} {}", who.empty() ? "" : ", ", kind, name);
  };
  add(block.tasks, "task", configuration.task);
  add(block.presets, "preset", configuration.preset);
  add(block.algorithms, "algorithm", configuration.algorithm);
  return who;
}

void apply_blocks(Configuration& configuration) {
  // Blocks are for the program's own tasks; one of a file may have the same name.
  const std::string task = configuration.definition == nullptr ? configuration.task : "";
  for (const DefaultsBlock* block : blocks_for({task, configuration.preset, configuration.algorithm})) {
    const SettingOrigin origin = {who_sets(*block, configuration), block->why};
    for (const Assignment& assignment : block->set) assign(assignment, origin, configuration);
  }
}

void apply_request(const std::vector<Assignment>& assignments, Configuration& configuration) {
  for (const Assignment& assignment : assignments) {
    if (!is_task_option(assignment, configuration.task_options))
      assign(assignment, {assignment.origin, "", /*given=*/true}, configuration);
  }
}

// A policy that is there already needs no first stage to be prepared in.
void leave_out_first_stage(Configuration& configuration) {
  double& first = configuration.settings.twin.first;
  if (configuration.init.empty() || first == 0.0 || is_given(configuration, "twin.first")) return;
  first = 0.0;
  configuration.origins["twin.first"] = {"--init", "The run begins with a policy, so it needs no first stage"};
}

// Makes what is implicit explicit, so that the file says everything.
void fill_in(const Task& task, Configuration& configuration) {
  Settings& settings = configuration.settings;
  const SettingOrigin origin = {"task " + configuration.task, ""};
  if (settings.horizon == 0) {
    settings.horizon = task.spec().horizon;
    configuration.origins["horizon"] = origin;
  }
  Constraints constraints = resolve_constraints(task, settings);
  if (settings.costs.empty()) configuration.origins["costs"] = origin;
  if (settings.limits.empty()) configuration.origins["limits"] = origin;
  settings.costs = std::move(constraints.names);
  settings.limits = std::move(constraints.limits);
}

// Keys that may have another value in a run that goes on.
std::vector<std::string> changeable_keys(const TaskOptions& options) {
  std::vector<std::string> keys = {"iterations"};
  for (const TaskOption& option : options.known()) {
    if (option.may_change) keys.push_back(option.key());
  }
  return keys;
}

// The task of `other`, unless one with these options is another task, to be made. A program that `other` does not name
// is no reason to make one: the configurations are about to be compared, and differ.
std::shared_ptr<const Task> task_of_other(const Configuration& other, Configuration& configuration) {
  if (!same_task(other, configuration)) return nullptr;
  TaskOptions& options = configuration.task_options;
  bool same = true;
  for (const TaskOption& option : options.known()) {
    const OptionValue& value = options.values().at(option.name);
    const OptionValue& others = other.task_options.values().at(option.name);
    if (option.executes && value != others) return other.made;
    // Confirmed where it is there.
    if (option.executes && other.task_options.is_confirmed(option.name)) options.set(option.name, value);
    same = same && (value == others || option.may_change);
  }
  return same ? other.made : nullptr;
}

Configuration resolve(const ConfigurationRequest& request, const Configuration* other) {
  Configuration configuration;
  const RequestedSettings requested = resolve_identity(request, configuration);
  const std::vector<Assignment>& assignments = requested.all;
  if (configuration.task.empty()) {
    std::vector<std::string> names;
    for (const TaskEntry& entry : task_registry()) names.push_back(entry.name);
    throw UserError("no task was named; there are: {}, and task files", fmt::join(names, ", "));
  }
  const TaskEntry& entry = entry_of(configuration);
  find_algorithm(configuration.algorithm);
  check_preset(configuration.preset);

  // The options come first: what a task says of itself may depend on them.
  configuration.task_options = TaskOptions(entry.options);
  if (request.allow_commands) configuration.task_options.confirm();
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const bool confirmed = i >= requested.of_file || request.allow_commands;
    if (is_task_option(assignments[i], configuration.task_options))
      assign_task_option(assignments[i], confirmed, configuration);
  }
  std::shared_ptr<const Task> task = other != nullptr ? task_of_other(*other, configuration) : nullptr;
  if (task == nullptr) task = entry.make(configuration.task_options);

  for (const Assignment& own : own_defaults(task->spec(), "defaults of task " + configuration.task)) {
    assign(own, {"task " + configuration.task, ""}, configuration);
  }
  apply_blocks(configuration);
  apply_request(assignments, configuration);
  leave_out_first_stage(configuration);
  fill_in(*task, configuration);
  check_together(configuration.settings);
  const bool has_these_options =
      other == nullptr || task != other->made || other->task_options.values() == configuration.task_options.values();
  if (has_these_options) configuration.made = task;
  return configuration;
}

ConfigurationRequest stored_request(const std::filesystem::path& path) {
  ConfigurationRequest request;
  request.file = brought_up_to_date(parse_document(read_file(path), path.string()));
  request.folder = path.parent_path();
  return request;
}

}  // namespace

bool is_given(const Configuration& configuration, const std::string& key) {
  const auto found = configuration.origins.find(key);
  return found != configuration.origins.end() && found->second.given;
}

Configuration resolve_configuration(const ConfigurationRequest& request) { return resolve(request, nullptr); }

Configuration resolve_without_task(const ConfigurationRequest& request) {
  Configuration configuration;
  const std::vector<Assignment> assignments = resolve_identity(request, configuration).all;
  find_algorithm(configuration.algorithm);
  check_preset(configuration.preset);
  for (const Assignment& assignment : assignments) {
    if (is_task_option(assignment, configuration.task_options))
      throw UserError("{}: {} is of a task", assignment.origin, assignment.key);
  }
  apply_blocks(configuration);
  apply_request(assignments, configuration);
  return configuration;
}

void change_task_options(const std::vector<Assignment>& sets, Configuration& configuration) {
  const std::map<std::string, OptionValue> before = configuration.task_options.values();
  for (const Assignment& assignment : sets) {
    if (!is_task_option(assignment, configuration.task_options)) {
      throw UserError("{}: only options of the task, task.…, can change here", assignment.key);
    }
    assign_task_option(assignment, /*confirmed=*/true, configuration);
  }
  if (configuration.task_options.values() != before) configuration.made = nullptr;  // it had the options of before
}

Configuration read_configuration(const std::filesystem::path& path, const Consent& consent) {
  ConfigurationRequest request = stored_request(path);
  request.allow_commands = consent.commands;
  for (const Assignment& assignment : consent.given) {
    if (starts_program(assignment.key)) request.sets.push_back(assignment);
  }
  return resolve(request, nullptr);
}

Configuration read_configuration(const std::filesystem::path& path, const Configuration& other) {
  return resolve(stored_request(path), &other);
}

void check_continues(const Configuration& before, const Configuration& after, const std::filesystem::path& stored) {
  const std::vector<std::string> changeable = changeable_keys(after.task_options);
  for (const SettingDifference& difference : differences(before, after)) {
    if (std::find(changeable.begin(), changeable.end(), difference.key) != changeable.end()) continue;
    throw UserError("a run that is resumed keeps its settings: {} is {} in '{}', not {}; only {} may change",
                    difference.key, difference.before, stored.string(), difference.after,
                    fmt::join(changeable, " and "));
  }
}

std::string lasting_configuration(const Configuration& configuration) {
  std::vector<std::string> left_out = changeable_keys(configuration.task_options);
  for (const TaskOption& option : configuration.task_options.known()) {
    if (option.executes) left_out.push_back(option.key());
  }
  std::string text;
  for (const ConfigurationLine& line : configuration_lines(configuration)) {
    if (std::find(left_out.begin(), left_out.end(), line.key) != left_out.end()) continue;
    text += line.key + " = " + line.value + "\n";
  }
  return text;
}

Configuration continue_configuration(const std::filesystem::path& stored, const ConfigurationRequest& request) {
  ConfigurationRequest all = request;
  all.folder = stored.parent_path();
  all.file = stored_request(stored).file;
  all.file.insert(all.file.end(), request.file.begin(), request.file.end());
  Configuration after = resolve_configuration(all);  // first, so that a simulator outside starts in the time it now has
  check_continues(read_configuration(stored, after), after, stored);
  return after;
}

}  // namespace cgpo
