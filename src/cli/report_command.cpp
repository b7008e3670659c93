// `cgpo report`: one page about one or several runs.
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/view/report.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

struct ReportRequest {
  std::vector<std::string> runs;
  std::optional<std::string> out;
  PageOptions options;
  std::vector<std::string> sets;
  bool allow_command = false;
  int threads = 1;
  bool json = false;
};

Json summary_json(const Json& data, const fs::path& out, std::size_t bytes) {
  Json summary;
  summary["out"] = out.string();
  summary["bytes"] = bytes;
  summary["task"] = data.at("task");
  summary["groups"] = Json::array();
  for (const Json& group : data.at("groups")) {
    summary["groups"].push_back({{"label", group.at("label")}, {"runs", group.at("runs")}});
  }
  summary["runs"] = data.at("runs");
  return summary;
}

int report(const ReportRequest& request) {
  if (request.runs.empty()) throw UserError("report needs the folder of a run: {} report RUN", program_name());
  const std::vector<ReportedRun> runs = read_runs(request.runs, consent_from(request.sets, request.allow_command));
  const fs::path out = request.out        ? fs::path(*request.out)
                       : runs.size() == 1 ? runs.front().paths.folder / "report.html"
                                          : fs::path("report.html");
  ThreadPool pool(request.threads);
  if (request.options.episodes > 0) {
    say(stderr, "evaluating {} polic{} on {} episodes each …\n", runs.size(), runs.size() == 1 ? "y" : "ies",
        request.options.episodes);
  }
  const Json data = page_data(runs, request.options, pool);
  const std::string page = page_from(data);
  write_file_atomically(out, page);
  if (request.json) {
    Json summary = summary_json(data, out, page.size());
    for (Json& run : summary["runs"]) run.erase("replay");
    say_json(summary);
    return 0;
  }
  for (const Json& run : data.at("runs")) {
    if (!run.contains("evaluation")) continue;
    const Json& evaluation = run.at("evaluation");
    say("{}: {}\n", run.at("folder").get<std::string>(),
        evaluation.value(evaluation.contains("problem") ? "problem" : "sentence", ""));
  }
  say("report  {} ({:.1f} MiB; opens in any browser, without a network)\n", out.string(),
      static_cast<double>(page.size()) / (1024.0 * 1024.0));
  return 0;
}

}  // namespace

Command make_report_command() {
  const auto owned = std::make_shared<ReportRequest>();
  ReportRequest& request = *owned;
  return {
      {{"RUN", Texts{&request.runs}, "folders of runs of one task; those that differ in the seed alone are averaged"},
       {"--out", FilledText{&request.out}, "the page (RUN/report.html; of several runs report.html)", "FILE"},
       {"--episodes", whole(request.options.episodes, 0, 100'000'000), "of the evaluation (1024); 0: none"},
       {"--replays", whole(request.options.replays, 0, 16), "episodes of each policy that are shown (1); 0: none"},
       {"--seed", seed(request.options.seed), "of start states and noise (the run's own)"},
       given_again_flag(request.sets),
       allow_command_flag(request.allow_command),
       threads_flag(request.threads),
       json_flag(request.json)},
      [owned](const Given&) { return report(*owned); }};
}

}  // namespace cgpo
