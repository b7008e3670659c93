#include "cgpo/view/live_view.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <httplib.h>
#include <mutex>
#include <optional>
#include <thread>

#include "cgpo/base/error.hpp"
#include "cgpo/judge/curves.hpp"
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

// Follows a log as it grows. Lines may also be taken back: a run that is resumed cuts its log to the checkpoint.
class LogTail {
 public:
  LogTail(fs::path path, int environments) : path_(std::move(path)), environments_(environments) {}

  const std::vector<LogEntry>& read() {
    std::error_code ignored;
    const auto size = fs::file_size(path_, ignored);
    if (ignored) return entries_;
    if (size < read_) restart();
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(read_));
    for (std::string line; std::getline(file, line) && !file.eof();) {
      try {
        LogEntry entry = from_json(Json::parse(line), environments_);
        if (entry.report.iteration != static_cast<int>(entries_.size())) {
          restart();
          break;
        }
        entries_.push_back(std::move(entry));
      } catch (const Json::exception&) {
        break;
      }
      read_ += line.size() + 1;
    }
    return entries_;
  }

 private:
  void restart() {
    entries_.clear();
    read_ = 0;
  }

  fs::path path_;
  int environments_;
  std::uintmax_t read_ = 0;  // bytes
  std::vector<LogEntry> entries_;
};

}  // namespace

struct LiveView::Parts {
  httplib::Server server;
  int port = 0;
  std::thread thread;
  std::mutex mutex;  // of what follows
  RunPaths run;
  Configuration configuration;
  std::optional<LogTail> log;
  std::string replay;         // as it was sent last,
  int replay_iteration = -1;  // for a checkpoint after so many iterations
  Clock::time_point asked = Clock::time_point::min();
  std::atomic<bool> finished{false};
  std::atomic<bool> end_was_told{false};

  std::string page() {
    ReportedRun shown;
    shown.paths = run;
    shown.configuration = configuration;
    shown.log = log->read();
    ThreadPool pool(1);
    return page_from(page_data({shown}, {.episodes = 0, .replays = 0, .live = true}, pool));
  }

  std::string lines(std::size_t from) {
    const std::vector<LogEntry>& all = log->read();
    Json answer;
    answer["curves"] = curves_json(std::span(&all, 1), configuration.settings.costs, from);
    answer["iterations"] = all.size();
    answer["planned"] = configuration.settings.iterations;
    answer["snapshots"] = find_snapshots(run).size();
    const bool end = finished;
    answer["finished"] = end;
    if (end) end_was_told = true;
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string policies() {
    const std::vector<KeptPolicy> kept = find_policies(run, configuration);
    if (kept.back().iteration == replay_iteration) return replay;
    ThreadPool pool(1);
    replay = replay_json(run, configuration, {}, pool).dump(-1, ' ', false, Json::error_handler_t::replace);
    replay_iteration = kept.back().iteration;
    return replay;
  }

  // Only reading, and only by pages of this machine: a foreign page that finds the port must not read a run.
  std::optional<int> refusal(const httplib::Request& request) const {
    if (request.method != "GET") return 405;
    const std::string host = request.get_header_value("Host");
    const bool known = host == fmt::format("{}:{}", kHost, port) || host == fmt::format("localhost:{}", port);
    return known ? std::nullopt : std::optional(403);
  }

  template <class Make>
  void answer(httplib::Response& response, const char* type, Make&& make) {
    const std::lock_guard lock(mutex);
    asked = Clock::now();
    try {
      response.set_content(make(), type);
    } catch (const UserError& error) {  // a checkpoint that is just being replaced, a folder that was removed
      response.status = 503;
      response.set_content(error.what(), "text/plain; charset=utf-8");
    }
    asked = Clock::now();
  }

  void set_handlers() {
    server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const std::optional<int> code = refusal(request);
      if (!code) return httplib::Server::HandlerResponse::Unhandled;
      response.status = *code;
      if (*code == 405) response.set_header("Allow", "GET");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      answer(response, "text/html; charset=utf-8", [this] { return page(); });
    });
    server.Get("/log", [this](const httplib::Request& request, httplib::Response& response) {
      const std::string text = request.get_param_value("from");
      const bool number = text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
      const std::size_t from = number && !text.empty() ? std::stoul(text) : 0;
      answer(response, "application/json", [&] { return lines(from); });
    });
    server.Get("/replay", [this](const httplib::Request&, httplib::Response& response) {
      answer(response, "application/json", [this] { return policies(); });
    });
    server.set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  }
};

LiveView::LiveView(int port) : parts_(std::make_unique<Parts>()) {
  httplib::Server& server = parts_->server;
  // The library's own choice would let two programs share the port, each getting some of the requests.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  server.set_keep_alive_max_count(1);  // a browser that keeps connections open must not keep the few threads busy
  if (port == 0) {
    parts_->port = server.bind_to_any_port(kHost);
  } else {
    parts_->port = server.bind_to_port(kHost, port) ? port : -1;
  }
  if (parts_->port <= 0) {
    throw UserError("--live: port {} is in use on this machine; --port N takes another, --port 0 any that is free",
                    port);
  }
}

LiveView::~LiveView() {
  if (!parts_->thread.joinable()) return;
  parts_->server.stop();
  parts_->thread.join();
}

std::string LiveView::address() const { return fmt::format("http://{}:{}/", kHost, parts_->port); }

void LiveView::begin(const fs::path& folder, const Configuration& configuration) {
  parts_->run = RunPaths{folder};
  parts_->configuration = configuration;
  parts_->log.emplace(parts_->run.log(), configuration.settings.environments);
  parts_->set_handlers();
  // Signals are for the training's thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  parts_->thread = std::thread([this] { parts_->server.listen_after_bind(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  while (!parts_->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void LiveView::finish() {
  parts_->finished = true;
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < kLongestWait) {
    Clock::time_point last;
    {
      const std::lock_guard lock(parts_->mutex);
      last = parts_->asked;
    }
    if (last == Clock::time_point::min()) return;  // nobody looks
    if (Clock::now() - last > (parts_->end_was_told ? kQuiet : kOpenPage)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace cgpo
