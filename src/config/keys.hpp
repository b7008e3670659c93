// Every key of a configuration but `task.*`: its name, what it may be, what it means, and the field it stands for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cgpo/config/value.hpp"
#include "cgpo/updates/settings.hpp"

namespace cgpo {

struct Key {
  std::string name;
  std::string allowed;  // "a whole number from 1 to 10"
  std::string help;
  std::function<void(Settings&, const Value&)> set;  // throws UserError if the value is not allowed
  std::function<Value(const Settings&)> get;
};

// In the order in which they are written; the keys of a section stand together, those without one come first.
const std::vector<Key>& settings_keys();

// Part of a key before its first dot; empty: it has none.
std::string section_of(const std::string& key);

// What each preset sets on top of the task's own defaults: (key, TOML value). Throws UserError if there is no such
// preset.
const std::vector<std::pair<std::string, std::string>>& preset_assignments(const std::string& preset);

}  // namespace cgpo
