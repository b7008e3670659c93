#include "cgpo/cli/settings_command.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/config/setting_list.hpp"

namespace cgpo {
namespace {

// JSON has no infinity: a limit that is none is null.
Json to_json(const Value& value) {
  if (const auto* list = std::get_if<std::vector<Value>>(&value.data)) {
    Json items = Json::array();
    for (const Value& item : *list) items.push_back(to_json(item));
    return items;
  }
  if (const auto* number = std::get_if<double>(&value.data); number != nullptr && !std::isfinite(*number)) return {};
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return *integer;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::get<std::string>(value.data);
}

Json to_json(const ListedSetting& setting) {
  Json result;
  result["name"] = setting.name;
  result["type"] = setting.type;
  result["default"] = to_json(setting.value);
  result["range"] = setting.range;
  result["meaning"] = setting.meaning;
  result["origin"] = setting.origin.who.empty() ? "program" : setting.origin.who;
  if (!setting.origin.why.empty()) result["why"] = setting.origin.why;
  return result;
}

}  // namespace

int settings_command(const ConfigurationRequest& request, bool json) {
  const std::vector<ListedSetting> settings = list_settings(request);
  if (json) {
    Json result;
    result["settings"] = Json::array();
    for (const ListedSetting& setting : settings) result["settings"].push_back(to_json(setting));
    fmt::print("{}\n", result.dump());
    return 0;
  }
  const bool has_origins = std::any_of(settings.begin(), settings.end(),
                                       [](const ListedSetting& setting) { return !setting.origin.who.empty(); });
  std::vector<std::vector<std::string>> rows = {{"setting", "type", "default", "range", "meaning"}};
  for (const ListedSetting& setting : settings) {
    rows.push_back({setting.name, setting.type, format_value(setting.value), setting.range, setting.meaning});
  }
  if (has_origins) {
    rows[0].insert(rows[0].begin() + 3, "set by");
    for (std::size_t i = 0; i < settings.size(); ++i) {
      rows[i + 1].insert(rows[i + 1].begin() + 3, settings[i].origin.who);
    }
  }
  print_table(rows);
  return 0;
}

}  // namespace cgpo
