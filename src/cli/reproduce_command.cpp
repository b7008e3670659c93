#include "cgpo/cli/reproduce_command.hpp"

#include <cstdio>
#include <fmt/format.h>

#include "cgpo/base/text.hpp"
#include "cgpo/cli/status_line.hpp"
#include "cgpo/run/stop_signal.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const ReproduceFlags& flags) {
  if (flags.out) return *flags.out;
  return fs::path("runs") / fmt::format("reproduce-{}{}", flags.name, flags.quick ? "-quick" : "");
}

}  // namespace

int reproduce_command(const ReproduceFlags& flags) {
  const std::vector<const Reproduction*> chosen = find_reproductions(flags.name);
  const bool one = chosen.size() == 1;
  const fs::path folder = folder_of(flags);
  ThreadPool pool(flags.threads);
  const StopSignal stop;
  StatusLine line;
  std::vector<PreparedReproduction> all_prepared;
  for (const Reproduction* reproduction : chosen) {
    all_prepared.push_back(
        prepare_reproduction(*reproduction, flags, one ? folder : folder / reproduction->name, pool, line.listener()));
  }
  bool failed = false;
  Json all = Json::array();
  try {
    if (!one) {
      double seconds = 0.0;
      for (PreparedReproduction& prepared : all_prepared) seconds += estimate_seconds(prepared);
      line.event(fmt::format("all of them in {}: about {}", folder.string(), format_duration(seconds)));
    }
    for (PreparedReproduction& prepared : all_prepared) {
      const ReproduceOutcome outcome = make_reproduction(prepared);
      failed = failed || outcome.failed;
      if (!flags.json) fmt::print("{}{}", all.empty() ? "" : "\n", outcome.text);
      std::fflush(stdout);
      all.push_back(outcome.json);
    }
  } catch (const Stopped& stopped) {
    line.event("stopped; the same command goes on where it was");
    return 128 + stopped.signal;
  }
  if (flags.json) {
    Json json;
    json["reproductions"] = all;
    fmt::print("{}\n", (one ? all.front() : json).dump());
  }
  return failed ? 1 : 0;
}

}  // namespace cgpo
