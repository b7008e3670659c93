// The switches of a task: the keys `task.*` of a configuration, and those of other sections that only tasks of its kind
// have, as `twin.*`.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cgpo {

using OptionValue = std::variant<bool, double, std::string>;

// What an option is called in a configuration.
inline std::string option_key(const std::string& name) {
  return name.find('.') == std::string::npos ? "task." + name : name;
}

struct TaskOption {
  std::string name;  // without "task."; with a dot in it, the whole key
  OptionValue standard;
  std::string help;
  std::vector<std::string> choices = {};  // of a text; empty: any
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  // A text that is run as a program: a file alone must not set it, and pages do not show it, for it may hold secrets.
  bool executes = false;
  bool may_change = false;  // for a run that is resumed
  // Of one that `executes`: what the file says that defines the task, and where; as of any file, unconfirmed.
  std::string said = {};
  std::string said_at = {};

  std::string key() const { return option_key(name); }
};

// Values for the options of one task, the standard ones where nothing was set.
class TaskOptions {
 public:
  explicit TaskOptions(std::vector<TaskOption> known = {});

  // Throws UserError if there is no such option or the value is not allowed.
  void set(const std::string& name, const OptionValue& value);
  // The same for a value out of a file, which may be somebody else's. If it `executes` it is kept and can be shown, but
  // text() does not hand it out until set() has given it again. `origin` is the place, for the message.
  void set_unconfirmed(const std::string& name, const OptionValue& value, const std::string& origin);

  // All that files have said counts as given from now on: the user lets them.
  void confirm() { unconfirmed_.clear(); }
  bool is_confirmed(const std::string& name) const { return !unconfirmed_.contains(name); }

  double number(const std::string& name) const { return std::get<double>(values_.at(name)); }
  bool flag(const std::string& name) const { return std::get<bool>(values_.at(name)); }
  // Throws UserError if it `executes` and nobody but a file has said so.
  const std::string& text(const std::string& name) const;

  const std::vector<TaskOption>& known() const { return known_; }
  const TaskOption* find(const std::string& name) const;                        // null: there is none
  const std::map<std::string, OptionValue>& values() const { return values_; }  // to be shown and compared

 private:
  std::vector<TaskOption> known_;
  std::map<std::string, OptionValue> values_;
  std::map<std::string, std::string> unconfirmed_;  // where those came from that a file alone has set
};

}  // namespace cgpo
