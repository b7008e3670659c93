#include "cgpo/cli/replay_command.hpp"

#include <fmt/format.h>
#include <utility>

#include "cgpo/cli/status_line.hpp"

namespace cgpo {

int replay_command(const ReplayFlags& flags) {
  StatusLine line;
  const Json result = make_replay(flags, line.listener());
  if (flags.json) {
    fmt::print("{}\n", result.dump(-1, ' ', false, Json::error_handler_t::replace));
    return 0;
  }
  for (const auto& [key, word] :
       {std::pair("out", "replay"), std::pair("video", "video"), std::pair("folder", "folder")}) {
    if (result.contains(key)) fmt::print("{:<7} {}\n", word, result.at(key).get<std::string>());
  }
  return 0;
}

}  // namespace cgpo
