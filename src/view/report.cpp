#include "cgpo/view/report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <variant>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/judge/curves.hpp"
#include "cgpo/judge/evaluation_report.hpp"
#include "cgpo/page/page.hpp"
#include "cgpo/view/replay.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

std::string now_in_words() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (error) throw UserError("cannot look at '{}': {}", path.string(), error.message());  // which is not: missing
  return there;
}

std::size_t count_lines(const std::string& text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

// What is odd about a run, in sentences.
void add_notes(ReportedRun& run) {
  const int iterations = run.configuration.settings.iterations;
  const std::size_t lines = is_there(run.paths.log()) ? count_lines(read_file(run.paths.log())) : 0;
  if (run.log.empty()) run.notes.emplace_back("There is no iteration in the log yet.");
  if (lines > run.log.size()) {
    const std::size_t unread = lines - run.log.size();
    run.notes.push_back(fmt::format("{} line{} of the log cannot be read and {} left out.", unread,
                                    unread == 1 ? "" : "s", unread == 1 ? "is" : "are"));
  }
  const int done = run.log.empty() ? 0 : run.log.back().report.iteration + 1;
  if (const int missing = done - static_cast<int>(run.log.size()); missing > 0) {
    run.notes.push_back(
        fmt::format("The log has no line of {} of the {} iterations; the curves have gaps there.", missing, done));
  }
  if (done > 0 && done < iterations) {
    run.notes.push_back(fmt::format("{} of {} iterations are done.", done, iterations));
  }
  std::int64_t diverged = 0;
  int undefined = 0;
  int unjudged = 0;
  for (const LogEntry& entry : run.log) {
    diverged += entry.report.diverged;
    unjudged += too_many_diverged(entry.report) ? 1 : 0;
    undefined += std::isfinite(entry.report.return_mean) ? 0 : 1;
  }
  if (undefined > 0) {
    run.notes.push_back(fmt::format("In {} iteration{} the return is not a number; the curves have gaps there.",
                                    undefined, undefined == 1 ? "" : "s"));
  }
  if (diverged > 0) {
    run.notes.push_back(fmt::format("{} episode{} diverged and {} left out of all means.", diverged,
                                    diverged == 1 ? "" : "s", diverged == 1 ? "is" : "are"));
  }
  if (unjudged > 0) {
    run.notes.push_back(fmt::format("In {} iteration{} too many episodes diverged for a verdict: {} not feasible.",
                                    unjudged, unjudged == 1 ? "" : "s", unjudged == 1 ? "it is" : "they are"));
  }
  if (!run.log.empty() && !run.log.back().report.warning.empty()) {
    run.notes.push_back(fmt::format("The last iteration warns: {}.", run.log.back().report.warning));
  }
}

// The keys whose values no page shows.
std::vector<std::string> secret_keys(const Configuration& configuration) {
  std::vector<std::string> keys;
  for (const TaskOption& option : configuration.task_options.known()) {
    if (option.executes) keys.push_back(option.key());
  }
  return keys;
}

// On a live page, which anyone on this machine may read, neither folders nor texts that may be anything.
std::vector<std::string> keys_left_out(const Configuration& configuration, bool live) {
  std::vector<std::string> keys = secret_keys(configuration);
  if (!live) return keys;
  keys.emplace_back("init");
  for (const TaskOption& option : configuration.task_options.known()) {
    if (std::holds_alternative<std::string>(option.standard) && option.choices.empty()) {
      keys.push_back(option.key());
    }
  }
  return keys;
}

std::vector<ConfigurationLine> shown_lines(const Configuration& configuration, bool live) {
  const std::vector<std::string> left_out = keys_left_out(configuration, live);
  std::vector<ConfigurationLine> lines = configuration_lines(configuration);
  for (ConfigurationLine& line : lines) {
    if (std::find(left_out.begin(), left_out.end(), line.key) != left_out.end()) line.value = "not shown";
  }
  return lines;
}

// A sentence about a simulator that failed names what started it.
std::string without_secrets(std::string text, const Configuration& configuration) {
  for (const TaskOption& option : configuration.task_options.known()) {
    if (!option.executes) continue;
    const auto& value = std::get<std::string>(configuration.task_options.values().at(option.name));
    if (value.empty()) continue;
    constexpr std::string_view kInstead = "…";
    for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + kInstead.size())) {
      text.replace(at, value.size(), kInstead);
    }
  }
  return text;
}

// Keys in which groups differ, so that their labels tell them apart.
std::string label_of(const std::vector<ReportedRun>& runs, const std::vector<RunGroup>& groups, std::size_t index) {
  const Configuration& own = runs[groups[index].runs.front()].configuration;
  std::set<std::string> keys;
  bool shares_algorithm = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Configuration& other = runs[groups[i].runs.front()].configuration;
    if (i == index || other.algorithm != own.algorithm) continue;
    shares_algorithm = true;
    for (const SettingDifference& difference : differences(other, own)) {
      if (difference.key != "seed" && difference.key != "init") keys.insert(difference.key);
    }
  }
  std::string label = own.algorithm;
  if (!shares_algorithm) return label;
  if (keys.contains("preset")) return fmt::format("{} ({})", label, own.preset);
  constexpr std::size_t kNamed = 3;
  std::size_t named = 0;
  for (const ConfigurationLine& line : shown_lines(own, /*live=*/false)) {
    if (keys.contains(line.key) && named++ < kNamed) label += fmt::format(", {} = {}", line.key, line.value);
  }
  if (named > kNamed) label += ", …";
  return label;
}

// As `eval` has it, with the words and intervals of the page.
Json worded_json(const EvaluationReport& report) {
  Json result = to_json(report);
  result["sentence"] = overall_sentence(report);
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    Json& cost = result["costs"][i];
    cost["interval"] = {report.costs[i].estimate.low(), report.costs[i].estimate.high()};
    cost["sentence"] = verdict_sentence(report.costs[i]);
  }
  result["return"]["interval"] = {report.return_optimised.low(), report.return_optimised.high()};
  if (report.deployed) result["deployed"] = worded_json(*report.deployed);
  return result;
}

Json evaluation_json(const ReportedRun& run, const PageOptions& options, ThreadPool& pool) {
  const Tensors checkpoint = read_checkpoint(run.paths.checkpoint(), run.configuration);
  const AlgorithmContext context{task_of(run.configuration), run.configuration.settings,
                                 options.seed ? static_cast<std::uint64_t>(*options.seed) : run.configuration.seed,
                                 &pool};
  return worded_json(judge(context, checkpoint, options.episodes, /*deterministic=*/false));
}

// A run whose checkpoint cannot be used still has curves: the sentence takes the place of the numbers.
template <class Make>
Json or_problem(const Configuration& configuration, Make&& make) {
  try {
    return make();
  } catch (const UserError& error) {
    return {{"problem", without_secrets(error.what(), configuration)}};
  }
}

// Of a path as it was given, with or without a slash at its end.
std::string last_name(const fs::path& path) {
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

Json run_json(const ReportedRun& run, bool live) {
  const Configuration& configuration = run.configuration;
  Json result;
  result["folder"] = live ? last_name(run.paths.folder) : run.paths.folder.string();
  result["algorithm"] = configuration.algorithm;
  result["seed"] = configuration.seed;
  result["iterations"] = run.log.size();
  result["planned"] = configuration.settings.iterations;
  result["steps"] = run.log.empty() ? 0 : run.log.back().report.steps;
  result["seconds"] = run.log.empty() ? Json(0.0) : page_number(run.log.back().seconds);
  std::string version = is_there(run.paths.version()) ? read_file(run.paths.version()) : "unknown";
  while (!version.empty() && version.back() == '\n') version.pop_back();
  result["version"] = version;
  result["notes"] = run.notes;
  return result;
}

Json configuration_json(const std::vector<ReportedRun>& runs, const std::vector<RunGroup>& groups, bool live) {
  std::vector<std::vector<ConfigurationLine>> lines;
  for (const RunGroup& group : groups) lines.push_back(shown_lines(runs[group.runs.front()].configuration, live));
  Json table = Json::array();
  for (const ConfigurationLine& line : lines.front()) {
    Json row = {{"key", line.key}, {"help", line.help}, {"values", Json::array()}};
    for (const auto& other : lines) {
      const auto same = std::find_if(other.begin(), other.end(), [&](const auto& l) { return l.key == line.key; });
      row["values"].push_back(same == other.end() ? Json(nullptr) : Json(same->value));
    }
    table.push_back(std::move(row));
  }
  return table;
}

Json group_json(const std::vector<ReportedRun>& runs, const RunGroup& group) {
  const Settings& settings = runs[group.runs.front()].configuration.settings;
  Json result;
  result["label"] = group.label;
  result["runs"] = group.runs;
  result["costs"] = Json::array();
  for (std::size_t i = 0; i < settings.costs.size(); ++i) {
    result["costs"].push_back({{"name", settings.costs[i]}, {"limit", page_number(settings.limits[i])}});
  }
  std::vector<std::vector<LogEntry>> logs;
  for (const std::size_t run : group.runs) logs.push_back(runs[run].log);
  result["curves"] = curves_json(logs, settings.costs);
  return result;
}

void check_together(const std::vector<ReportedRun>& runs) {
  std::set<fs::path> places;
  for (const ReportedRun& run : runs) {
    if (run.configuration.task != runs.front().configuration.task) {
      throw UserError("'{}' is a run of task {} and '{}' one of {}: a report shows one task; make one of each",
                      runs.front().paths.folder.string(), runs.front().configuration.task, run.paths.folder.string(),
                      run.configuration.task);
    }
    if (!places.insert(fs::weakly_canonical(run.paths.folder)).second) {
      throw UserError("'{}' is named twice", run.paths.folder.string());
    }
  }
}

// The folder of a comparison stands for its runs.
std::vector<fs::path> run_folders(const std::vector<std::string>& names) {
  std::vector<fs::path> folders;
  for (const std::string& name : names) {
    const fs::path folder = name;
    if (is_there(RunPaths{folder}.config()) || !is_there(folder / "comparison.json")) {
      folders.push_back(folder);
      continue;
    }
    std::vector<fs::path> found;
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) throw UserError("cannot read the folder '{}': {}", folder.string(), error.message());
    for (const fs::directory_entry& entry : entries) {
      if (is_there(RunPaths{entry.path()}.config())) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    folders.insert(folders.end(), found.begin(), found.end());
  }
  return folders;
}

std::string title_of(const Json& data) {
  return fmt::format("{}: {}", data.at("task").get<std::string>(), data.at("heading").get<std::string>());
}

}  // namespace

ReportedRun read_run(const fs::path& folder, const Consent& consent) {
  ReportedRun run;
  run.paths = find_run(folder);
  run.configuration = read_configuration(run.paths.config(), consent);
  run.log = read_log(run.paths.log(), run.configuration.settings.environments);
  add_notes(run);
  return run;
}

std::vector<ReportedRun> read_runs(const std::vector<std::string>& names, const Consent& consent) {
  std::vector<ReportedRun> runs;
  for (const fs::path& folder : run_folders(names)) runs.push_back(read_run(folder, consent));
  if (runs.empty()) throw UserError("there is no run in '{}'", names.front());
  check_together(runs);
  return runs;
}

std::vector<RunGroup> group_runs(const std::vector<ReportedRun>& runs) {
  std::vector<RunGroup> groups;
  const auto same = [](const Configuration& a, const Configuration& b) {
    const std::vector<SettingDifference> found = differences(a, b);
    return std::all_of(found.begin(), found.end(), [](const auto& difference) { return difference.key == "seed"; });
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const RunGroup& g) {
      return same(runs[g.runs.front()].configuration, runs[i].configuration);
    });
    if (group == groups.end()) {
      groups.push_back({"", {i}});
    } else {
      group->runs.push_back(i);
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].label = label_of(runs, groups, i);
  return groups;
}

Json page_data(const std::vector<ReportedRun>& runs, const PageOptions& options, ThreadPool& pool) {
  check(!runs.empty(), "a page shows at least one run");
  const std::vector<RunGroup> groups = group_runs(runs);
  const std::shared_ptr<const Task> task = task_of(runs.front().configuration);
  Json data;
  data["program"] = kVersion;
  data["command"] = options.live ? program_name() : command_words(secret_keys(runs.front().configuration));
  data["made"] = now_in_words();
  data["task"] = runs.front().configuration.task;
  data["summary"] = task->spec().summary;
  std::vector<std::string> labels;
  for (const RunGroup& group : groups) labels.push_back(group.label);
  data["heading"] = fmt::format("{}", fmt::join(labels, " and "));
  data["live"] = options.live;
  data["curves"] = options.curves;
  data["episodes"] = options.episodes;
  data["charts"] = charts_json();
  data["groups"] = Json::array();
  for (const RunGroup& group : groups) data["groups"].push_back(group_json(runs, group));
  data["runs"] = Json::array();
  for (const ReportedRun& run : runs) {
    Json entry = run_json(run, options.live);
    if (options.episodes > 0) {
      entry["evaluation"] = or_problem(run.configuration, [&] { return evaluation_json(run, options, pool); });
    }
    data["runs"].push_back(std::move(entry));
  }
  for (const RunGroup& group : groups) {
    if (options.replays == 0) break;
    const ReportedRun& run = runs[group.runs.front()];
    data["runs"][group.runs.front()]["replay"] = or_problem(run.configuration, [&] {
      return replay_json(run.paths, run.configuration,
                         {.episodes = options.replays, .noise = options.noise, .seed = options.seed}, pool);
    });
  }
  data["configuration"] = configuration_json(runs, groups, options.live);
  return data;
}

std::string page_from(const Json& data) {
  const auto has_robot = [](const Json& run) {
    return run.contains("replay") && run.at("replay").value("kind", "") == "robot";
  };
  const Json& runs = data.at("runs");
  const bool robot = data.value("live", false) || std::any_of(runs.begin(), runs.end(), has_robot);
  // Names need not be UTF-8; JSON is.
  return make_page(title_of(data), json_text(data), robot);
}

}  // namespace cgpo
