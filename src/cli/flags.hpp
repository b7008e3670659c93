// Private to this folder: what a command takes, described without the parser. Only command_line.cpp, which turns it
// into options, pays for compiling that.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cgpo/config/configuration.hpp"

namespace cgpo {

// Where what was given goes. Targets live as long as the command that names them.
struct Switch {
  bool* target;
  std::string excludes = {};  // another flag of the command
};
struct Text {
  std::string* target;
};
struct FilledText {  // it may be left out, but not be empty: that is a shell variable without a value
  std::optional<std::string>* target;
};
struct Texts {  // any number of them
  std::vector<std::string>* target;
};
struct Whole {  // within bounds, with a message like those of the configuration's keys
  std::function<void(std::int64_t)> store;
  std::int64_t low;
  std::int64_t high;
};
struct Number {
  double* target;
  double low;
  double high;
};
using FlagTarget = std::variant<Switch, Text, FilledText, Texts, Whole, Number>;

struct Flag {
  std::string name;  // "--seed", or without dashes what stands by itself: "TASK"
  FlagTarget target;
  std::string help;
  std::string type = {};  // what the help calls the value; empty: the usual word
};

template <class Target>
Whole whole(Target& target, std::int64_t low, std::int64_t high) {
  return {[&target](std::int64_t value) {
            if constexpr (std::is_integral_v<Target>) {
              target = static_cast<Target>(value);
            } else {
              target = static_cast<typename Target::value_type>(value);
            }
          },
          low, high};
}
template <class Target>
Whole seed(Target& target) {
  return whole(target, 0, std::numeric_limits<std::int64_t>::max());
}

// Flags that several commands have.
Flag threads_flag(int& threads);  // sets the target to all cores
Flag json_flag(bool& json);
Flag sets_flag(std::vector<std::string>& sets);
Flag allow_command_flag(bool& allowed);
// Of commands that open a run as it is: all that can be said again is what its task starts.
Flag given_again_flag(std::vector<std::string>& sets);
Consent consent_from(const std::vector<std::string>& sets, bool allowed);

// "as listed by `cgpo tasks`".
std::string listed_by(const char* command);
// "…, or a task file, FILE.toml".
std::string task_words();

}  // namespace cgpo
