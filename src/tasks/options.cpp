#include "cgpo/tasks/options.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {

TaskOptions::TaskOptions(std::vector<TaskOption> known) : known_(std::move(known)) {
  for (const TaskOption& option : known_) {
    values_[option.name] = option.said.empty() ? option.standard : option.said;
    if (!option.said.empty()) unconfirmed_[option.name] = option.said_at;
  }
}

void TaskOptions::set(const std::string& name, const OptionValue& value) {
  const TaskOption* const found = find(name);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const TaskOption& option : known_) names.push_back(option.key());
    if (names.empty()) throw UserError("unknown key '{}': this task has no options", option_key(name));
    throw UserError("unknown key '{}'{}; this task has: {}", option_key(name), did_you_mean(option_key(name), names),
                    fmt::join(names, ", "));
  }
  if (value.index() != found->standard.index()) {
    static constexpr const char* kTypes[] = {"true or false", "a number", "a text"};
    throw UserError("{} must be {}", found->key(), kTypes[found->standard.index()]);
  }
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && !found->choices.empty()) {
    if (std::find(found->choices.begin(), found->choices.end(), *text) == found->choices.end()) {
      throw UserError("{} must be one of {}, not '{}'{}", found->key(), fmt::join(found->choices, ", "), *text,
                      did_you_mean(*text, found->choices));
    }
  }
  if (const auto* number = std::get_if<double>(&value)) {
    if (!(*number >= found->low && *number <= found->high)) {
      throw UserError("{} must be between {} and {}, not {}", found->key(), found->low, found->high, *number);
    }
  }
  values_[name] = value;
  unconfirmed_.erase(name);
}

void TaskOptions::set_unconfirmed(const std::string& name, const OptionValue& value, const std::string& origin) {
  set(name, value);
  const auto* text = std::get_if<std::string>(&value);
  if (find(name)->executes && text != nullptr && !text->empty()) unconfirmed_[name] = origin;
}

const std::string& TaskOptions::text(const std::string& name) const {
  const auto& value = std::get<std::string>(values_.at(name));
  if (const auto origin = unconfirmed_.find(name); origin != unconfirmed_.end()) {
    throw UserError(
        "{}: task.{} would start a program, `{}`, which a file alone may not; --allow-command lets it, or give it "
        "again "
        "by --set 'task.{}=\"…\"'",
        origin->second, name, printable(value), name);
  }
  return value;
}

const TaskOption* TaskOptions::find(const std::string& name) const {
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const TaskOption& option) { return option.name == name; });
  return found == known_.end() ? nullptr : &*found;
}

}  // namespace cgpo
