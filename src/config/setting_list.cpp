#include "cgpo/config/setting_list.hpp"

#include <fmt/format.h>
#include <utility>

#include "cgpo/config/keys.hpp"

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

}  // namespace

std::vector<ListedSetting> list_settings(const ConfigurationRequest& request) {
  const Configuration configuration = request.task ? resolve_configuration(request) : resolve_without_task(request);
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
    const std::string name = "task." + option.name;
    list.push_back({name, type_of(option.standard), value_of(configuration.task_options.values().at(option.name)),
                    range_of(option), option.help, origin_of(name)});
  }
  return list;
}

}  // namespace cgpo
