// `cgpo settings`: every key with its type, default, range and meaning; with a task or an algorithm, the defaults in
// force for it and who set them.
#include <algorithm>
#include <string>
#include <vector>

#include "cgpo/base/table.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/config/listing.hpp"
#include "cgpo/config/setting_list.hpp"

namespace cgpo {
namespace {

int list_all_settings(const ConfigurationRequest& request, bool json) {
  const std::vector<ListedSetting> settings = list_settings(request);
  if (json) {
    say_json(list_of_settings(settings));
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
  say_lines(text_table(rows));
  return 0;
}

struct SettingsRequest {
  ConfigurationRequest configuration;
  std::vector<std::string> sets;
  bool json = false;
};

}  // namespace

Command make_settings_command() {
  const auto owned = std::make_shared<SettingsRequest>();
  SettingsRequest& request = *owned;
  ConfigurationRequest& configuration = request.configuration;
  return {{{"TASK", FilledText{&configuration.task}, task_words() + "; none: the program's defaults"},
           {"--algo", FilledText{&configuration.algorithm}, listed_by("algorithms") + " (cgpo)", "NAME"},
           {"--preset", FilledText{&configuration.preset}, "best or paper (best)", "NAME"},
           sets_flag(request.sets),
           allow_command_flag(configuration.allow_commands),
           json_flag(request.json)},
          [owned](const Given&) {
            for (const std::string& text : owned->sets) owned->configuration.sets.push_back(parse_assignment(text));
            return list_all_settings(owned->configuration, owned->json);
          }};
}

}  // namespace cgpo
