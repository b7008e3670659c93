// All settings of a run, of an algorithm or of none, for people and scripts to look at: `cgpo settings`.
#pragma once

#include <string>
#include <vector>

#include "cgpo/config/configuration.hpp"
#include "cgpo/config/value.hpp"

namespace cgpo {

struct ListedSetting {
  std::string name;
  std::string type;
  Value value;  // the default in force
  std::string range;
  std::string meaning;
  SettingOrigin origin;  // who set it; empty: the program
};

// With a task, its options `task.*` too. What is wrong with the request is a UserError.
std::vector<ListedSetting> list_settings(const ConfigurationRequest& request);

}  // namespace cgpo
