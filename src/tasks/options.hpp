// The switches of a task: the keys `task.*` of a configuration.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cgpo {

using OptionValue = std::variant<bool, double, std::string>;

struct TaskOption {
  std::string name;  // without "task."
  OptionValue standard;
  std::string help;
  std::vector<std::string> choices = {};  // of a text; empty: any
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool secret = false;  // what it is set to may be for nobody else's eyes: pages leave it out
};

// Values for the options of one task, the standard ones where nothing was set.
class TaskOptions {
 public:
  explicit TaskOptions(std::vector<TaskOption> known = {});

  // Throws UserError if there is no such option or the value is not allowed.
  void set(const std::string& name, const OptionValue& value);

  double number(const std::string& name) const { return std::get<double>(values_.at(name)); }
  bool flag(const std::string& name) const { return std::get<bool>(values_.at(name)); }
  const std::string& text(const std::string& name) const { return std::get<std::string>(values_.at(name)); }

  const std::vector<TaskOption>& known() const { return known_; }
  const std::map<std::string, OptionValue>& values() const { return values_; }

 private:
  std::vector<TaskOption> known_;
  std::map<std::string, OptionValue> values_;
};

}  // namespace cgpo
