// `cgpo compare`: several algorithms, several seeds, one table.
#include "cgpo/base/stop_signal.hpp"
#include "cgpo/campaign/compare.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/status_line.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {
namespace {

constexpr std::int64_t kMostSeeds = 10'000;

struct CompareFlags {
  CompareRequest request;
  bool json = false;
};

// Exit code: 0 when all runs are done, 1 if one of them failed, 128 + the signal's number if one ended it early.
int compare(const CompareFlags& flags) {
  const StopSignal stop;
  StatusLine line;
  const CompareResult result = run_comparison(flags.request, line.listener());
  if (result.stopped != 0) {
    line.event("stopped; the same command goes on where it was");
    return 128 + result.stopped;
  }
  say_lines(flags.json ? result.json + "\n" : result.table);
  return result.failed ? 1 : 0;
}

}  // namespace

Command make_compare_command() {
  const auto owned = std::make_shared<CompareFlags>();
  CompareRequest& request = owned->request;
  return {{{"TASK", Text{&request.task}, task_words()},
           {"--algos", Text{&request.algorithms},
            listed_by("algorithms") + ", with commas between, needed; also NAME@PRESET and NAME:KEY=VALUE", "NAME,…"},
           {"--vary", Texts{&request.vary},
            "train each algorithm once for each value of each key, not for their combinations: --vary 'limits=[3],[5]' "
            "window=5,10",
            "KEY=A,B,…"},
           {"--seeds", whole(request.seeds, 1, kMostSeeds), "how many (5)"},
           {"--first-seed", whole(request.first_seed, 0, std::numeric_limits<std::int64_t>::max() - kMostSeeds),
            "the first of them; the others follow it (0)"},
           {"--evaluate", whole(request.evaluate, 1, 100'000'000),
            "also evaluate each run's last policy, as eval does, on so many episodes"},
           {"--jobs", whole(request.jobs, 1, 1024), "runs at a time; they share the cores (1)"},
           {"--out", FilledText{&request.out}, "the folder of the comparison (runs/compare-TASK)", "FOLDER"},
           {"--preset", FilledText{&request.preset}, "best or paper, for algorithms that name none (best)", "NAME"},
           sets_flag(request.sets),
           json_flag(owned->json)},
          [owned](const Given&) { return compare(*owned); }};
}

}  // namespace cgpo
