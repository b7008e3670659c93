// `cgpo compare`: its flags. campaign/compare_command.hpp has the rest.
#include "cgpo/campaign/compare_command.hpp"

#include "cgpo/cli/commands.hpp"

namespace cgpo {

Command make_compare_command() {
  const auto owned = std::make_shared<CompareRequest>();
  CompareRequest& request = *owned;
  return {{{"TASK", Text{&request.task}, listed_by("tasks")},
           {"--algos", Text{&request.algorithms},
            listed_by("algorithms") + ", with commas between; also NAME@PRESET and NAME:KEY=VALUE", "NAME,…"},
           {"--seeds", whole(request.seeds, 1, 10'000), "how many: 0, 1, … (5)"},
           {"--jobs", whole(request.jobs, 1, 1024), "runs at a time; they share the cores (1)"},
           {"--out", FilledText{&request.out}, "the folder of the comparison (runs/compare-TASK)", "FOLDER"},
           {"--preset", FilledText{&request.preset}, "best or paper, for algorithms that name none (best)", "NAME"},
           sets_flag(request.sets),
           json_flag(request.json)},
          [owned](const Given&) { return compare_command(*owned); }};
}

}  // namespace cgpo
