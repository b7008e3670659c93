#include "cgpo/cli/flags.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

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

std::string listed_by(const char* command) { return fmt::format("as listed by `{} {}`", program_name(), command); }

}  // namespace cgpo
