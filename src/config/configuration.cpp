#include "cgpo/config/configuration.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

const std::string kTaskPrefix = "task.";

// Keys that have an argument of their own on the command line.
const std::map<std::string, std::string> kFlags = {
    {"task.name", "TASK"}, {"algorithm", "--algo"}, {"preset", "--preset"}, {"init", "--init"}, {"seed", "--seed"}};

// Runs `apply`; what it throws gets the place where the value came from.
void with_origin(const Assignment& assignment, const std::function<void()>& apply) {
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

// The keys that say which run it is; the rest are settings. Returns whether this is one of them.
bool read_identity(const Assignment& assignment, Configuration& configuration) {
  if (assignment.key == "task.name") {
    configuration.task = text_of(assignment);
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

// Takes the identity out of file and command line, and returns the assignments that are left.
std::vector<Assignment> resolve_identity(const ConfigurationRequest& request, Configuration& configuration) {
  std::vector<Assignment> rest;
  for (const Assignment& assignment : request.file) {
    if (!read_identity(assignment, configuration)) rest.push_back(assignment);
  }
  for (const Assignment& assignment : request.sets) {
    if (const auto flag = kFlags.find(assignment.key); flag != kFlags.end()) {
      throw UserError("--set: {} is not set but given as {}", assignment.key, flag->second);
    }
    rest.push_back(assignment);
  }
  if (request.task && !configuration.task.empty() && *request.task != configuration.task) {
    throw UserError("the configuration is for task '{}', not '{}'", configuration.task, *request.task);
  }
  if (request.task) configuration.task = *request.task;
  if (request.algorithm) configuration.algorithm = *request.algorithm;
  if (request.preset) configuration.preset = *request.preset;
  if (request.init) configuration.init = *request.init;
  if (request.seed) configuration.seed = static_cast<std::uint64_t>(*request.seed);
  if (configuration.task.empty()) {
    std::vector<std::string> names;
    for (const TaskEntry& entry : task_registry()) names.push_back(entry.name);
    throw UserError("no task was named; there are: {}", fmt::join(names, ", "));
  }
  return rest;
}

// Names the keys of the same section, or, if there is no such section, the sections that there are.
[[noreturn]] void throw_unknown(const std::string& name, const TaskOptions& options) {
  std::vector<std::string> all;
  for (const Key& key : settings_keys()) all.push_back(key.name);
  for (const TaskOption& option : options.known()) all.push_back(kTaskPrefix + option.name);
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

void assign(const Assignment& assignment, const TaskOptions& options, Settings& settings) {
  for (const Key& key : settings_keys()) {
    if (key.name != assignment.key) continue;
    with_origin(assignment, [&] { key.set(settings, assignment.value); });
    return;
  }
  with_origin(assignment, [&] { throw_unknown(assignment.key, options); });
}

void assign_task_option(const Assignment& assignment, TaskOptions& options) {
  with_origin(assignment, [&] {
    const std::string name = assignment.key.substr(kTaskPrefix.size());
    if (const auto* flag = std::get_if<bool>(&assignment.value.data)) return options.set(name, *flag);
    if (const auto* text = std::get_if<std::string>(&assignment.value.data)) return options.set(name, *text);
    if (const auto* number = std::get_if<double>(&assignment.value.data)) return options.set(name, *number);
    if (const auto* integer = std::get_if<std::int64_t>(&assignment.value.data)) {
      return options.set(name, static_cast<double>(*integer));
    }
    throw UserError("{} cannot be a list", assignment.key);
  });
}

bool is_task_option(const Assignment& assignment) { return assignment.key.starts_with(kTaskPrefix); }

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
  if (settings.window > settings.horizon) {
    throw UserError("window ({}) must not be longer than the horizon ({})", settings.window, settings.horizon);
  }
}

Value option_value(const OptionValue& value) {
  return std::visit([](const auto& held) { return Value{held}; }, value);
}

}  // namespace

std::vector<ConfigurationLine> configuration_lines(const Configuration& configuration) {
  std::vector<ConfigurationLine> lines = {
      {"algorithm", format_value({configuration.algorithm}),
       fmt::format("as listed by `{} algorithms`", program_name())},
      {"preset", format_value({configuration.preset}), "what the settings below were made from"},
      {"seed", fmt::format("{}", configuration.seed), "of all random numbers"},
  };
  if (!configuration.init.empty()) {
    lines.push_back({"init", format_value({configuration.init}), "the run whose policy was the first"});
  }
  for (const Key& key : settings_keys()) {
    lines.push_back(
        {key.name, format_value(key.get(configuration.settings)), fmt::format("{} ({})", key.help, key.allowed)});
  }
  lines.push_back(
      {"task.name", format_value({configuration.task}), fmt::format("as listed by `{} tasks`", program_name())});
  for (const TaskOption& option : configuration.task_options.known()) {
    lines.push_back({kTaskPrefix + option.name,
                     format_value(option_value(configuration.task_options.values().at(option.name))), option.help});
  }
  return lines;
}

Configuration resolve_configuration(const ConfigurationRequest& request) {
  Configuration configuration;
  const std::vector<Assignment> assignments = resolve_identity(request, configuration);
  const TaskEntry& entry = find_task(configuration.task);
  const AlgorithmEntry& algorithm = find_algorithm(configuration.algorithm);
  const auto& preset = preset_assignments(configuration.preset);

  // The options come first: a task's own defaults may depend on them.
  configuration.task_options = TaskOptions(entry.options);
  for (const Assignment& assignment : assignments) {
    if (is_task_option(assignment)) assign_task_option(assignment, configuration.task_options);
  }
  const std::shared_ptr<const Task> task = configuration.made = entry.make(configuration.task_options);

  Settings& settings = configuration.settings;
  const auto assign_all = [&](const auto& pairs, const std::string& origin) {
    for (const auto& [key, text] : pairs) {
      assign(make_assignment(key, text, origin), configuration.task_options, settings);
    }
  };
  assign_all(task->spec().defaults, "defaults of task " + configuration.task);
  assign_all(preset, "preset " + configuration.preset);
  if (configuration.preset == "paper") assign_all(task->spec().paper, "paper's settings of task " + configuration.task);
  assign_all(algorithm.defaults, "defaults of algorithm " + algorithm.name);
  for (const Assignment& assignment : assignments) {
    if (!is_task_option(assignment)) assign(assignment, configuration.task_options, settings);
  }

  // Make what is implicit explicit, so that the file says everything.
  if (settings.horizon == 0) settings.horizon = task->spec().horizon;
  Constraints constraints = resolve_constraints(*task, settings);
  settings.costs = std::move(constraints.names);
  settings.limits = std::move(constraints.limits);
  check_together(settings);
  return configuration;
}

void change_task_options(const std::vector<Assignment>& sets, Configuration& configuration) {
  for (const Assignment& assignment : sets) {
    if (!is_task_option(assignment)) {
      throw UserError("{}: only options of the task, task.…, can change here", assignment.key);
    }
    assign_task_option(assignment, configuration.task_options);
  }
  if (!sets.empty()) configuration.made = nullptr;  // it had the options of before
}

std::shared_ptr<const Task> task_of(const Configuration& configuration) {
  return configuration.made != nullptr ? configuration.made
                                       : find_task(configuration.task).make(configuration.task_options);
}

AlgorithmContext context_of(const Configuration& configuration, ThreadPool& pool) {
  return {task_of(configuration), configuration.settings, configuration.seed, &pool};
}

std::string write_configuration(const Configuration& configuration) {
  std::string text =
      fmt::format("# {}: all of a run's settings. `{} train {} --config FILE` repeats it, bit for bit.\n", kVersion,
                  program_name(), configuration.task);
  std::string section;
  for (const ConfigurationLine& line : configuration_lines(configuration)) {
    if (section_of(line.key) != section) {
      section = section_of(line.key);
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string name = section.empty() ? line.key : line.key.substr(section.size() + 1);
    text += fmt::format("{:<28} # {}\n", fmt::format("{} = {}", name, line.value), line.help);
  }
  return text;
}

Configuration read_configuration(const std::filesystem::path& path) {
  ConfigurationRequest request;
  request.file = parse_document(read_file(path), path.string());
  return resolve_configuration(request);
}

std::vector<SettingDifference> differences(const Configuration& before, const Configuration& after) {
  const std::vector<ConfigurationLine> old_lines = configuration_lines(before);
  const std::vector<ConfigurationLine> new_lines = configuration_lines(after);
  const auto value_in = [](const std::vector<ConfigurationLine>& lines, const std::string& key) {
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const ConfigurationLine& l) { return l.key == key; });
    return line != lines.end() ? line->value : "not set";
  };
  std::vector<SettingDifference> found;
  for (const ConfigurationLine& line : new_lines) {
    const std::string old_value = value_in(old_lines, line.key);
    if (old_value != line.value) found.push_back({line.key, old_value, line.value});
  }
  for (const ConfigurationLine& line : old_lines) {
    if (value_in(new_lines, line.key) == "not set") found.push_back({line.key, line.value, "not set"});
  }
  return found;
}

void check_continues(const Configuration& before, const Configuration& after, const std::filesystem::path& stored) {
  const bool outside = after.task == "external";
  for (const SettingDifference& difference : differences(before, after)) {
    if (difference.key == "iterations" || (outside && difference.key == "task.timeout")) continue;
    throw UserError("a run that is resumed keeps its settings: {} is {} in '{}', not {}; only iterations{} may change",
                    difference.key, difference.before, stored.string(), difference.after,
                    outside ? " and task.timeout" : "");
  }
}

Configuration continue_configuration(const std::filesystem::path& stored, const ConfigurationRequest& request) {
  ConfigurationRequest all = request;
  all.file = parse_document(read_file(stored), stored.string());
  all.file.insert(all.file.end(), request.file.begin(), request.file.end());
  Configuration after = resolve_configuration(all);  // first, so that a simulator outside starts in the time it now has
  check_continues(read_configuration(stored), after, stored);
  return after;
}

}  // namespace cgpo
