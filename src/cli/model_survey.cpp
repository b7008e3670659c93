#include "cgpo/cli/model_survey.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/process.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/stop_signal.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/cli/model_report.hpp"
#include "cgpo/cli/status_line.hpp"
#include "cgpo/cli/terminal.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// What became of a file, in the field "status".
constexpr const char* kAccepted = "accepted";
constexpr const char* kLeftOut = "left out";  // read, but for some elements
constexpr const char* kNoJoints = "no joints";
constexpr const char* kNoMjcf = "no MJCF";  // something else, or a piece for others to include
constexpr const char* kRefused = "refused";
constexpr const char* kFailed = "failed";  // it did not come to an end

// ---- which files ---------------------------------------------------------------------------------------------------

// The name of an XML text's outermost element; empty: it has none.
std::string root_of(const std::string& file) {
  std::string text(std::size_t{1} << 16, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    if (text.compare(at, 4, "<!--") == 0) {
      at = text.find("-->", at);
      if (at == std::string::npos) break;
    } else if (at + 1 < text.size() && text[at + 1] != '?' && text[at + 1] != '!') {
      return text.substr(at + 1, text.find_first_of(" \t\r\n/>", at) - at - 1);
    }
  }
  return "";
}

void add_folder(const fs::path& folder, std::vector<std::string>& files) {
  const std::size_t before = files.size();
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    std::error_code ignored;
    if (entry.path().extension() == ".xml" && entry.is_regular_file(ignored)) files.push_back(entry.path().string());
  }
  if (files.size() == before) throw UserError("'{}' has no file *.xml", folder.string());
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      add_folder(path, files);
    } else if (fs::exists(path, ignored)) {
      files.push_back(path);
    } else {
      throw UserError("cannot read '{}'", path);
    }
  }
  return files;
}

// ---- one of them ---------------------------------------------------------------------------------------------------

Json without_model(const std::string& path, const char* status, const std::string& error, bool compiled = false) {
  return {{"path", path},      {"status", status}, {"compiled", compiled},
          {"accepted", false}, {"error", error},   {"unsupported", Json::array()}};
}

Json look_at(const std::string& path, const RobotCheckRequest& request) {
  bool compiled = false;  // by MuJoCo
  try {
    MujocoEngine engine = MujocoEngine::from_file(path);
    compiled = true;
    if (engine.nv() == 0) return without_model(path, kNoJoints, "nothing in it can move", compiled);
    const RobotCheck check = check_robot(path, std::move(engine), request);
    Json result{{"path", path},
                {"status", check.accepted() ? kAccepted : kLeftOut},
                {"compiled", compiled},
                {"accepted", check.accepted()}};
    result["error"] = check.right() ? Json() : Json("its dynamics is not MuJoCo's");
    result["left_out"] = count_kinds(check.model->unsupported);
    const Json all = to_json(check);
    for (const auto& [name, value] : all.items()) {
      if (name != "file") result[name] = value;
    }
    return result;
  } catch (const UserError& error) {
    std::string text = error.what();
    if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
    return without_model(path, kRefused, text, compiled);
  }
}

// The same in a process of its own: MuJoCo's compiler may crash, or never end.
class Look {
 public:
  Look(std::size_t index, const std::string& path, const SurveyRequest& request)
      : index_(index), path_(path), limit_(request.time_limit), end_(Clock::now() + std::chrono::seconds(limit_)) {
    ProcessPlan plan{.words = {program_name(), "model", path, "--json", "--jobs", "0"},
                     .program = "/proc/self/exe",
                     .writes_at = 1,
                     .output = "/dev/null"};
    if (request.check.states) plan.words.insert(plan.words.end(), {"--states", std::to_string(*request.check.states)});
    plan.words.insert(plan.words.end(), {"--steps", std::to_string(request.check.steps)});
    plan.words.insert(plan.words.end(), {"--seed", std::to_string(request.check.seed)});
    process_.emplace(plan);
  }

  std::size_t index() const { return index_; }
  // What came of it; nothing yet.
  std::optional<Json> result() {
    read();
    const std::optional<ProcessEnd> end = process_->wait_for(0.0);
    if (!end) {
      if (Clock::now() < end_) return std::nullopt;
      process_->end(0.0);
      return without_model(path_, kFailed, fmt::format("it took longer than {} s", limit_));
    }
    read();
    const Json all = parse_json(said_);
    if (all.is_object() && all.contains("files")) return all["files"].at(0);
    const std::string what = end->signal != 0 && end->signal != SIGABRT ? "MuJoCo or we crashed" : "it broke off";
    return without_model(path_, kFailed, fmt::format("{}: the process {}", what, end->words()));
  }

 private:
  void read() {
    std::array<char, 1 << 16> piece;
    std::size_t size = 0;
    while (process_->read_some(piece, Deadline(0.0), size) == Process::Transfer::kDone)
      said_.append(piece.data(), size);
  }

  std::size_t index_;
  std::string path_;
  int limit_;
  Clock::time_point end_;
  std::optional<Process> process_;
  std::string said_;
};

// ---- all of them ---------------------------------------------------------------------------------------------------

// Fills `results` by processes; the signal that ended it early, 0: none.
int look_at_all(const std::vector<std::string>& files, const SurveyRequest& request, std::vector<Json>& results) {
  const StopSignal stop;
  StatusLine line;
  const Listener listener = line.listener();
  std::vector<std::unique_ptr<Look>> running;
  std::size_t next = 0;
  std::size_t done = 0;
  while (next < files.size() || !running.empty()) {
    if (const int signal = listener.stop(); signal != 0) {
      listener.event("stopped");
      return signal;
    }
    while (next < files.size() && running.size() < static_cast<std::size_t>(request.jobs)) {
      if (results[next].is_null()) running.push_back(std::make_unique<Look>(next, files[next], request));
      ++next;
    }
    const std::size_t before = running.size();
    std::erase_if(running, [&](const std::unique_ptr<Look>& look) {
      std::optional<Json> result = look->result();
      if (result) results[look->index()] = std::move(*result);
      return result.has_value();
    });
    done += before - running.size();
    if (before != running.size()) continue;
    if (!running.empty()) {
      listener.status(fmt::format("{} files done, {} left; {}", done, files.size() - next + running.size(),
                                  files[running.front()->index()]));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return 0;
}

bool was_read(const Json& file) { return file.contains("nq"); }

double error_of(const Json& file) {
  double worst = 0.0;
  for (const auto& [name, value] : file.at("max_error_supported").items()) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return NAN;
    worst = std::max(worst, value.get<double>());
  }
  return worst;
}

std::string verdict_of(const Json& file) {
  if (!was_read(file)) {
    return fmt::format("{}: {}", file.at("status").get<std::string>(), file.at("error").get<std::string>());
  }
  std::string text = file.at("status");
  if (!file.at("left_out").empty()) {
    text += ": " + describe_kinds(file.at("left_out").get<std::map<std::string, int>>());
  }
  return file.at("error").is_null() ? text : "IS NOT MuJoCo's; " + text;
}

std::string trial_of(const Json& file) {
  if (!file.contains("trial")) return "-";
  const Json& trial = file.at("trial");
  const int diverged = trial.at("diverged");
  if (diverged == 0) return "hold";
  return fmt::format("{}/{} DIVERGE (MuJoCo's: {})", diverged, trial.at("episodes").get<int>(),
                     trial.at("mujoco_diverged").get<int>());
}

void print_table(const std::vector<Json>& files) {
  std::vector<std::vector<std::string>> rows = {{"file", "q", "v", "controls", "bodies", "contact points", "pairs",
                                                 "error", "substeps/s", "random steps", "verdict"}};
  const auto number = [](const Json& value) { return std::to_string(value.get<int>()); };
  for (const Json& file : files) {
    if (!was_read(file)) continue;
    const bool timed = file.contains("substeps_per_second");
    rows.push_back({file.at("path"), number(file.at("nq")), number(file.at("nv")), number(file.at("nu")),
                    number(file.at("bodies")), number(file.at("contacts")), number(file.at("pairs")),
                    fmt::format("{:.0e}", error_of(file)),
                    timed ? format_rate(file.at("substeps_per_second").get<double>()) : "-", trial_of(file),
                    verdict_of(file)});
  }
  if (rows.size() > 1) say_lines(text_table(rows));
  for (const char* const status : {kRefused, kFailed, kNoJoints, kNoMjcf}) {
    bool first = true;
    for (const Json& file : files) {
      if (was_read(file) || file.at("status") != status) continue;
      if (std::exchange(first, false)) say("\n{}:\n", status);
      say("  {}: {}\n", file.at("path").get<std::string>(), file.at("error").get<std::string>());
    }
  }
}

void print_summary(const std::vector<Json>& files) {
  std::map<std::string, int> of_status, files_with;
  int diverged = 0;
  for (const Json& file : files) {
    ++of_status[file.at("status")];
    if (!was_read(file)) continue;
    for (const auto& [kind, count] : file.at("left_out").items()) ++files_with[kind];
    if (file.contains("trial") && file.at("trial").at("diverged") > 0) ++diverged;
  }
  say("\n{} files: {} accepted, {} read with elements left out, {} refused, {} failed, {} without joints, {} no MJCF\n",
      files.size(), of_status[kAccepted], of_status[kLeftOut], of_status[kRefused], of_status[kFailed],
      of_status[kNoJoints], of_status[kNoMjcf]);
  if (diverged > 0) say("under random controls {} diverged\n", diverged);
  std::vector<std::pair<std::string, int>> kinds(files_with.begin(), files_with.end());
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (kinds.size() > 10) kinds.resize(10);
  for (const auto& [kind, count] : kinds) say("left out in {} files: {}\n", count, kind);
}

}  // namespace

int survey_models(const SurveyRequest& request) {
  const std::vector<std::string> files = files_of(request.paths);
  std::vector<Json> results(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string root = root_of(files[i]);
    if (root == "mujoco" || root == "robot") continue;  // MuJoCo reads URDF, too
    const std::string what = root.empty() ? "not XML" : fmt::format("a <{}>", root);
    results[i] = without_model(files[i], kNoMjcf, what);
  }
  int stopped = 0;
  if (request.jobs > 0) {
    stopped = look_at_all(files, request, results);
  } else {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (results[i].is_null()) results[i] = look_at(files[i], request.check);
    }
  }
  if (stopped != 0) return 128 + stopped;
  if (request.json) {
    say_json({{"files", results}});
  } else {
    print_table(results);
    print_summary(results);
  }
  const bool wrong = std::any_of(results.begin(), results.end(),
                                 [](const Json& file) { return was_read(file) && !file.at("error").is_null(); });
  return wrong ? 1 : std::any_of(results.begin(), results.end(), was_read) ? 0 : 2;
}

}  // namespace cgpo
