#include "cgpo/view/live_view.hpp"

#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <variant>

#include "cgpo/base/error.hpp"
#include "cgpo/judge/curves.hpp"
#include "cgpo/run/line_tail.hpp"
#include "cgpo/view/replay.hpp"
#include "cgpo/view/report.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr const char* kHost = "127.0.0.1";
// A page that asked lately is open, and may be slow to draw; one that knows of the end and asks no more has read all.
constexpr std::chrono::milliseconds kOpenPage{15000};
constexpr std::chrono::milliseconds kQuiet{1500};
constexpr std::chrono::milliseconds kLongestWait{30000};

HttpServer listen_at(int port, const HttpLimits& limits) {
  try {
    return HttpServer(port, limits);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::address_in_use) {
      throw UserError("--live: port {} is in use on this machine; --port N takes another, --port 0 any that is free",
                      port);
    }
    throw UserError("--live: port {} cannot be taken: {}; --port 0 takes any that is free", port,
                    error.code().message());
  }
}

}  // namespace

// The entries of a log as it grows, less lines that are none of ours.
class FollowedLog {
 public:
  FollowedLog(const fs::path& path, int environments) : lines_(path), environments_(environments) {}

  const std::vector<LogEntry>& read() {
    const LineTail::News news = lines_.read();
    if (news.from_the_start) entries_.clear();
    for (const std::string& line : news.lines) {
      std::optional<LogEntry> entry = parse_log_line(line, environments_);  // none: it is damaged
      if (entry && (entries_.empty() || entry->report.iteration > entries_.back().report.iteration)) {
        entries_.push_back(*std::move(entry));
      }
    }
    return entries_;
  }

 private:
  LineTail lines_;
  int environments_;
  std::vector<LogEntry> entries_;
};

struct LiveView::Parts {
  Parts(int port, const HttpLimits& limits) : server(listen_at(port, limits)) {}

  std::mutex mutex;             // of what follows, but for the server
  std::optional<RunPaths> run;  // nothing: it has not begun
  Configuration configuration;
  std::optional<FollowedLog> log;
  std::string replay;         // as it was sent last,
  int replay_iteration = -1;  // for a checkpoint after so many iterations
  Clock::time_point asked = Clock::time_point::min();
  bool finished = false;
  bool end_was_told = false;
  HttpServer server;  // goes first: its thread uses the rest

  HttpAnswer page() {
    ReportedRun shown;
    shown.paths = *run;
    shown.configuration = configuration;
    shown.log = log->read();
    ThreadPool pool(1);
    return {.type = "text/html; charset=utf-8",
            .content = page_from(page_data({shown}, {.episodes = 0, .replays = 0, .live = true}, pool))};
  }

  HttpAnswer lines(std::size_t from) {
    const std::vector<LogEntry>& all = log->read();
    Json answer;
    answer["curves"] = curves_json(std::span(&all, 1), configuration.settings.costs, from);
    answer["iterations"] = all.size();
    answer["planned"] = configuration.settings.iterations;
    answer["snapshots"] = find_snapshots(*run).size();
    answer["finished"] = finished;
    end_was_told = finished;
    return {.type = "application/json", .content = json_text(answer)};
  }

  HttpAnswer policies() {
    // It has one state of its environments, and training is in the middle of them: to step it would change the run.
    if (task_of(configuration)->has_environments_outside()) {
      const Json none = {{"problem",
                          "the task's simulator is outside this program and busy with the training; a "
                          "report on the run's folder has one when it is over"}};
      return {.type = "application/json", .content = json_text(none)};
    }
    const std::vector<KeptPolicy> kept = find_policies(*run, configuration);
    if (kept.back().iteration != replay_iteration) {
      ThreadPool pool(1);
      replay = json_text(replay_json(*run, configuration, {}, pool));
      replay_iteration = kept.back().iteration;
    }
    return {.type = "application/json", .content = replay};
  }

  // Only for pages of this machine: a foreign page that finds the port must not read a run.
  bool is_known(std::string_view host) const {
    return host == fmt::format("{}:{}", kHost, server.port()) || host == fmt::format("localhost:{}", server.port());
  }

  HttpAnswer answer(const HttpRequest& request) {
    if (!is_known(request.host)) return {.status = 403};
    const std::lock_guard lock(mutex);
    if (!run) return {.status = 503};
    asked = Clock::now();
    HttpAnswer result;
    try {
      if (request.path == "/") {
        result = page();
      } else if (request.path == "/log") {
        result = lines(number_in(request.query, "from"));
      } else if (request.path == "/replay") {
        result = policies();
      } else {
        result = {.status = 404};
      }
    } catch (const UserError&) {  // a checkpoint that is just being replaced, a folder that was removed
      result = {.status = 503};
    }
    asked = Clock::now();
    return result;
  }
};

LiveView::LiveView(int port, const HttpLimits& limits) : parts_(std::make_unique<Parts>(port, limits)) {
  try {
    parts_->server.start([parts = parts_.get()](const HttpRequest& request) { return parts->answer(request); });
  } catch (const std::system_error& error) {
    throw UserError("--live: there can be no thread that serves the page: {}; without --live the run needs none",
                    error.code().message());
  }
}

LiveView::~LiveView() = default;

int LiveView::port() const { return parts_->server.port(); }

std::string LiveView::address() const { return fmt::format("http://{}:{}/", kHost, port()); }

void LiveView::begin(const fs::path& folder, const Configuration& configuration) {
  const std::lock_guard lock(parts_->mutex);
  parts_->run = RunPaths{folder};
  parts_->configuration = configuration;
  parts_->configuration.made = task_of(configuration);
  parts_->log.emplace(parts_->run->log(), configuration.settings.environments);
}

void LiveView::finish() {
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < kLongestWait) {
    {
      const std::lock_guard lock(parts_->mutex);
      parts_->finished = true;
      if (parts_->asked == Clock::time_point::min()) return;  // nobody looks
      if (Clock::now() - parts_->asked > (parts_->end_was_told ? kQuiet : kOpenPage)) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace cgpo
