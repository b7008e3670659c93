// `cgpo reproduce`: a table or figure of the paper, or one beyond it, by one command.
#include <cstdio>
#include <fmt/format.h>

#include "cgpo/base/stop_signal.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/status_line.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/reproduce/making.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

struct ReproduceFlags {
  std::string name;  // or "all"
  ReproduceOptions options;
  std::optional<std::string> out;  // runs/reproduce-NAME
  bool json = false;
};

fs::path folder_of(const ReproduceFlags& flags) {
  if (flags.out) return *flags.out;
  const std::string form = flags.options.form.value_or("best");
  return fs::path("runs") / fmt::format("reproduce-{}{}{}", flags.name, form == "best" ? "" : "-" + form,
                                        flags.options.quick ? "-quick" : "");
}

// Exit code: 0 done, 1 a training failed, 128 + the signal's number if one ended it early.
int reproduce(const ReproduceFlags& flags) {
  const std::vector<const Reproduction*> chosen = find_reproductions(flags.name);
  const bool one = chosen.size() == 1;
  const fs::path folder = folder_of(flags);
  ThreadPool pool(flags.options.threads);
  const StopSignal stop;
  StatusLine line;
  std::vector<PreparedReproduction> all_prepared;
  for (const Reproduction* reproduction : chosen) {
    all_prepared.push_back(prepare_reproduction(*reproduction, flags.options,
                                                one ? folder : folder / reproduction->name, pool, line.listener()));
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
      if (!flags.json && !all.empty()) say("\n");
      if (!flags.json) say_lines(outcome.text);
      all.push_back(outcome.json);
    }
  } catch (const Stopped& stopped) {
    line.event("stopped; the same command goes on where it was");
    return 128 + stopped.signal;
  }
  if (flags.json) {
    Json json;
    json["reproductions"] = all;
    say_json(one ? all.front() : json);
  }
  return failed ? 1 : 0;
}

}  // namespace

Command make_reproduce_command() {
  const auto owned = std::make_shared<ReproduceFlags>();
  ReproduceOptions& options = owned->options;
  std::string names;
  for (const Reproduction& entry : reproductions()) names += entry.name + ", ";
  return {
      {{"NAME", Text{&owned->name}, names + "or all of them"},
       {"--quick", Switch{&options.quick}, "a reduced version, in minutes"},
       {"--out", FilledText{&owned->out}, "the folder of its results (runs/reproduce-NAME)", "FOLDER"},
       {"--form", FilledText{&options.form},
        "of table1: best, each algorithm at its best, or paper, with the paper's batches and iterations (best)",
        "FORM"},
       {"--seeds", whole(options.seeds, 1, 10'000), "how many (5; 2 with --quick); of CGPO in table1 four times that"},
       {"--first-seed", seed(options.first_seed), "the first of them (1000; smaller ones are for choosing settings)"},
       {"--jobs", whole(options.jobs, 1, 1024), "trainings at a time; they share the threads (1)"},
       threads_flag(options.threads),
       json_flag(owned->json)},
      [owned](const Given&) { return reproduce(*owned); }};
}

}  // namespace cgpo
