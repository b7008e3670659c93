// Words of the command line, given to commands that only print: settings, algorithms, and one that has a flag of every
// kind.
#include "cgpo/cli/command_line.hpp"

#include <iostream>
#include <memory>
#include <vector>

#include "cgpo/cli/commands.hpp"

#include "fuzz.hpp"

namespace cgpo {
namespace {

struct Targets {
  bool on = false;
  bool other = false;
  std::string text;
  std::optional<std::string> filled;
  std::vector<std::string> texts;
  int whole = 1;
  std::int64_t seed = 0;
  double number = 0.5;
  int threads = 1;
};

Command make_every_flag() {
  const auto owned = std::make_shared<Targets>();
  Targets& to = *owned;
  std::vector<Flag> flags = {{"TASK", FilledText{&to.filled}, "a word"},
                             {"--on", Switch{&to.on}, "a switch"},
                             {"--other", Switch{&to.other, "--on"}, "not with --on"},
                             {"--text", Text{&to.text}, "a text"},
                             {"--whole", whole(to.whole, 1, 10), "a number"},
                             {"--seed", seed(to.seed), "a large one"},
                             {"--number", Number{&to.number, 0.0, 1.0}, "one"},
                             {"--several", Texts{&to.texts}, "some", "X"},
                             threads_flag(to.threads)};
  return {std::move(flags), [owned](const Given&) {
            const Targets& got = *owned;
            fuzz::require(got.whole >= 1 && got.whole <= 10 && got.seed >= 0, "whole numbers are within their bounds");
            fuzz::require(got.number >= 0.0 && got.number <= 1.0, "numbers are within their bounds");
            fuzz::require(!(got.on && got.other), "a switch excludes another");
            return 0;
          }};
}

}  // namespace

const std::vector<CommandEntry>& all_commands() {
  static const std::vector<CommandEntry> commands = {{"algorithms", "those", make_algorithms_command},
                                                     {"settings", "these", make_settings_command},
                                                     {"flags", "all kinds", make_every_flag}};
  return commands;
}

}  // namespace cgpo

using namespace cgpo;

CGPO_FUZZ(input) {
  static const bool quiet = [] {
    std::cout.rdbuf(nullptr);
    return (stdout = stderr = std::fopen("/dev/null", "w")) != nullptr;
  }();
  fuzz::require(quiet, "what is printed goes nowhere");
  // Tasks other than the smallest take too long to make, and one of them starts programs.
  if (input.find("external") != std::string_view::npos || input.find("command") != std::string_view::npos) return;
  std::vector<std::string> words = {"cgpo"};
  for (std::size_t at = 0; at <= input.size() && words.size() < 24;) {
    const std::size_t end = std::min(input.find('\n', at), input.size());
    words.emplace_back(input.substr(at, end - at));
    words.back().erase(std::min(words.back().find('\0'), words.back().size()));
    at = end + 1;
  }
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const int code = run_command_line(static_cast<int>(pointers.size()), pointers.data());
  fuzz::require(code == 0 || code == 2, "a command line works or is refused");
}
