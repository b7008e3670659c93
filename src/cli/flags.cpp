#include "cgpo/cli/flags.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"

namespace cgpo {

Flag threads_flag(int& threads) {
  threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return {"--threads", whole(threads, 1, 1024), "threads to use; results do not depend on it (all cores)"};
}

Flag json_flag(bool& json) {
  return {"--json", Switch{&json}, "print one JSON object on standard output, and nothing else there"};
}

Flag sets_flag(std::vector<std::string>& sets) {
  return {"--set", Texts{&sets}, "set keys of the configuration, as TOML: --set iterations=50 radius.test=fixed",
          "KEY=VALUE"};
}

Flag allow_command_flag(bool& allowed) {
  return {"--allow-command", Switch{&allowed},
          "let task.command start its program though only a file says so; see docs/guide/trust.md"};
}

Flag given_again_flag(std::vector<std::string>& sets) {
  return {"--set", Texts{&sets}, "what starts the run's simulator, given again: --set 'task.command=\"…\"'",
          "task.command=…"};
}

Consent consent_from(const std::vector<std::string>& sets, bool allowed) {
  Consent consent{.commands = allowed};
  for (const std::string& text : sets) {
    consent.given.push_back(parse_assignment(text));
    const std::string& key = consent.given.back().key;
    if (!starts_program(key))
      throw UserError("--set {}: only what starts the run's simulator, task.command, is given here", key);
  }
  return consent;
}

std::string listed_by(const char* command) { return fmt::format("as listed by `{} {}`", program_name(), command); }

std::string task_words() { return listed_by("tasks") + ", or a task file, FILE.toml"; }

}  // namespace cgpo
