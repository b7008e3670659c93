// `cgpo model`: what MJCF files hold, what of it our dynamics leaves out, and how far the rest is from MuJoCo's.
#include <filesystem>

#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/model_parts.hpp"
#include "cgpo/cli/model_report.hpp"
#include "cgpo/cli/model_survey.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {
namespace {

// The exit code: 0, or 1 if the dynamics is not that of MuJoCo without the unsupported elements.
int describe_model(const SurveyRequest& request) {
  if (request.paths.empty()) throw UserError("model needs an MJCF file: {} model FILE.xml", program_name());
  std::error_code ignored;
  const bool one = request.paths.size() == 1 && !std::filesystem::is_directory(request.paths.front(), ignored);
  if (!one || request.jobs == 0) return survey_models(request);
  if (request.paths.front().ends_with(".toml")) {
    throw UserError(
        "'{0}' is a task file, and model is for the MJCF file of a robot: {1} model FILE.xml with the one that [robot] "
        "names; of the task itself speaks {1} check {0}",
        request.paths.front(), program_name());
  }
  const RobotCheck check = check_robot(request.paths.front(), request.check);
  if (request.json) {
    Json all = to_json(check);
    all.update(parts_of(*check.model));
    say_json(all);
  } else {
    print_report(check);
  }
  return check.right() ? 0 : 1;
}

}  // namespace

Command make_model_command() {
  const auto owned = std::make_shared<SurveyRequest>();
  SurveyRequest& request = *owned;
  return {{{"PATH", Texts{&request.paths}, "robots, as MJCF: files, or folders, of which all *.xml are taken"},
           {"--states", whole(request.check.states, 1, 1'000'000),
            "random states to compare on (1000; fewer for more than 200 velocities)"},
           {"--steps", whole(request.check.steps, 0, 1'000'000),
            "time steps that our engine makes under random controls (1000); 0: none, and its speed is not measured"},
           {"--seed", seed(request.check.seed), "of the random states and controls (0)"},
           {"--jobs", whole(request.jobs, 0, 1024),
            "of several files: how many at a time, each in a process of its own (1); 0: all in this process"},
           {"--time-limit", whole(request.time_limit, 1, 86'400), "of several files: seconds that each may take (60)"},
           json_flag(request.json)},
          [owned](const Given&) { return describe_model(*owned); }};
}

}  // namespace cgpo
