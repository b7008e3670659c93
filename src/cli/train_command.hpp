// `cgpo train`, from what was asked to the summary.
#pragma once

#include <optional>
#include <string>

#include "cgpo/config/configuration.hpp"

namespace cgpo {

struct TrainRequest {
  ConfigurationRequest configuration;
  std::optional<std::string> out;
  bool resume = false;
  bool force = false;
  bool allow_unsupported = false;
  int threads = 1;
  bool live = false;        // serve a page about the run while it trains
  std::optional<int> port;  // of that page; 0: any that is free
  bool json = false;
};

// Exit code: 0 when all iterations are done, 128 + the signal's number if one ended the run early.
int train_command(const TrainRequest& request);

}  // namespace cgpo
