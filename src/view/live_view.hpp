// A page about a run while it trains, on this machine alone.
#pragma once

#include <filesystem>
#include <memory>

#include "cgpo/config/configuration.hpp"
#include "cgpo/view/http_server.hpp"

namespace cgpo {

// Serves three addresses on 127.0.0.1, for reading only: the page at /, the log's new lines at /log?from=N, and the
// policies kept so far at /replay. It reads the run's folder as anyone may, so training does not know of it; policies
// are simulated anew, but not of a task whose simulator is outside, since there is one of it. Anyone on this machine
// may read it: paths, texts of the task's options and the command line are not shown.
class LiveView {
 public:
  static constexpr int kUsualPort = 8765;

  // Takes the port, 0: any that is free. Throws UserError if another program has it.
  explicit LiveView(int port, const HttpLimits& limits = {});
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  int port() const;
  std::string address() const;
  // From now on requests are answered; before, they are asked to come again.
  void begin(const std::filesystem::path& folder, const Configuration& configuration);
  // Training is over: gives a page that is open the time to read the end.
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cgpo
