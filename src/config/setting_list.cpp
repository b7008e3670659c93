#include "cgpo/config/setting_list.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

std::string range_of(const TaskOption& option) {
  if (std::holds_alternative<bool>(option.standard)) return "true or false";
  if (std::holds_alternative<double>(option.standard)) return Range{.low = option.low, .high = option.high}.words();
  std::string words;
  for (const std::string& choice : option.choices) {
    words += fmt::format("{}\"{}\"", words.empty() ? "one of " : ", ", choice);
  }
  return words;
}

std::string type_of(const OptionValue& value) {
  if (std::holds_alternative<bool>(value)) return "boolean";
  return std::holds_alternative<double>(value) ? "number" : "text";
}

// With the task's options. One that is no task until an option says which (`external`) has the program's defaults, and
// its options are listed as they stand.
Configuration resolve_listed(const ConfigurationRequest& request) {
  if (!request.task) return resolve_without_task(request);
  if (is_task_file(*request.task)) return resolve_configuration(request);
  const TaskEntry& entry = find_task(*request.task);
  const bool given = std::any_of(request.sets.begin(), request.sets.end(),
                                 [&](const Assignment& set) { return set.key == entry.needs; });
  if (entry.needs.empty() || given) return resolve_configuration(request);
  ConfigurationRequest rest = request;
  rest.task.reset();
  Configuration configuration = resolve_without_task(rest);
  configuration.task_options = TaskOptions(entry.options);
  return configuration;
}

}  // namespace

std::vector<ListedSetting> list_settings(const ConfigurationRequest& request) {
  const Configuration configuration = resolve_listed(request);
  const auto origin_of = [&](const std::string& name) {
    const auto found = configuration.origins.find(name);
    return found != configuration.origins.end() ? found->second : SettingOrigin{};
  };
  std::vector<ListedSetting> list;
  for (const Key& key : settings_keys()) {
    std::string name(key.name);
    SettingOrigin origin = origin_of(name);
    list.push_back({std::move(name), key.type(), key.get(configuration.settings), key.range(), std::string(key.meaning),
                    std::move(origin)});
  }
  for (const TaskOption& option : configuration.task_options.known()) {
    const std::string name = option.key();
    list.push_back({name, type_of(option.standard), value_of(configuration.task_options.values().at(option.name)),
                    range_of(option), option.help, origin_of(name)});
  }
  return list;
}

}  // namespace cgpo
