// `cgpo reproduce`: its flags. reproduce/reproduce.hpp has the rest.
#include "cgpo/cli/commands.hpp"
#include "cgpo/reproduce/reproduce.hpp"

namespace cgpo {

Command make_reproduce_command() {
  const auto owned = std::make_shared<ReproduceOptions>();
  ReproduceOptions& options = *owned;
  std::string names;
  for (const Reproduction& entry : reproductions()) names += entry.name + ", ";
  return {{{"NAME", Text{&options.name}, names + "or all of them"},
           {"--quick", Switch{&options.quick}, "a reduced version, in minutes"},
           {"--out", FilledText{&options.out}, "the folder of its results (runs/reproduce-NAME)", "FOLDER"},
           {"--seeds", whole(options.seeds, 1, 10'000), "how many: 0, 1, … (5; 2 with --quick)"},
           {"--jobs", whole(options.jobs, 1, 1024), "trainings at a time; they share the threads (1)"},
           threads_flag(options.threads),
           json_flag(options.json)},
          [owned](const Given&) { return reproduce_command(*owned); }};
}

}  // namespace cgpo
