#include "cgpo/config/configuration.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cgpo/base/program_name.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {

Value value_of(const OptionValue& option) {
  return std::visit([](const auto& held) { return Value{held}; }, option);
}

namespace {

// Options of a task may be of a section that settings have keys in, too. In a file a section stands in one place.
std::vector<ConfigurationLine> by_section(std::vector<ConfigurationLine> lines) {
  std::vector<std::string> sections;
  const auto place = [&sections](const ConfigurationLine& line) {
    return std::find(sections.begin(), sections.end(), section_of(line.key)) - sections.begin();
  };
  for (const ConfigurationLine& line : lines) {
    if (place(line) == std::ssize(sections)) sections.push_back(section_of(line.key));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const ConfigurationLine& a, const ConfigurationLine& b) { return place(a) < place(b); });
  return lines;
}

}  // namespace

std::vector<ConfigurationLine> configuration_lines(const Configuration& configuration) {
  std::vector<ConfigurationLine> lines = {
      {"algorithm", format_value({configuration.algorithm}),
       fmt::format("algorithm, as listed by `{} algorithms`", program_name())},
      {"preset", format_value({configuration.preset}), "preset that the settings below were made from"},
      {"seed", fmt::format("{}", configuration.seed), "seed of all random numbers"},
  };
  if (!configuration.init.empty()) {
    lines.push_back({"init", format_value({configuration.init}), "run whose policy was the first"});
  }
  for (const Key& key : settings_keys()) {
    lines.push_back({std::string(key.name), format_value(key.get(configuration.settings)),
                     fmt::format("{} ({})", key.meaning, key.allowed())});
  }
  lines.push_back(
      {"task.name", format_value({configuration.task}), fmt::format("task, as listed by `{} tasks`", program_name())});
  if (configuration.definition != nullptr) {
    lines.push_back({"task.definition", format_value({std::string(kDefinitionName)}),
                     "file beside this one that defines the task"});
    lines.push_back({"task.checksum", format_value({configuration.definition->checksum()}), "of that file"});
  }
  for (const TaskOption& option : configuration.task_options.known()) {
    lines.push_back(
        {option.key(), format_value(value_of(configuration.task_options.values().at(option.name))), option.help});
  }
  return by_section(std::move(lines));
}

std::shared_ptr<const Task> task_of(const Configuration& configuration) {
  return configuration.made != nullptr ? configuration.made : entry_of(configuration).make(configuration.task_options);
}

const TaskEntry& entry_of(const Configuration& configuration) {
  return configuration.definition != nullptr ? configuration.definition->entry() : find_task(configuration.task);
}

std::string task_name(const std::string& task) {
  return is_task_file(task) ? TaskFile::read(task)->entry().name : task;
}

std::string task_word(const Configuration& configuration) {
  return configuration.definition != nullptr ? configuration.definition->path() : configuration.task;
}

AlgorithmContext context_of(const Configuration& configuration, ThreadPool& pool) {
  return {task_of(configuration), configuration.settings, configuration.seed, &pool};
}

std::string write_configuration(const Configuration& configuration) {
  const std::string task = configuration.definition == nullptr ? configuration.task + " " : "";
  std::string text =
      fmt::format("# {}: all of a run's settings. `{} train {}--config FILE{}` repeats it, bit for bit.\n", kVersion,
                  program_name(), task, consent_to_same(configuration).given.empty() ? "" : " --allow-command");
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

bool starts_program(const std::string& key) {
  const std::vector<TaskEntry>& tasks = task_registry();
  return std::any_of(tasks.begin(), tasks.end(), [&](const TaskEntry& entry) {
    return std::any_of(entry.options.begin(), entry.options.end(),
                       [&](const TaskOption& option) { return option.executes && option.key() == key; });
  });
}

Consent consent_to_same(const Configuration& configuration) {
  Consent consent;
  for (const TaskOption& option : configuration.task_options.known()) {
    const OptionValue& value = configuration.task_options.values().at(option.name);
    if (option.executes && value != option.standard && configuration.task_options.is_confirmed(option.name)) {
      consent.given.push_back({option.key(), value_of(value), "--set"});
    }
  }
  return consent;
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

}  // namespace cgpo
