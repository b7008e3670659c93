// `cgpo compare`: several algorithms, several seeds, one table.
#pragma once

#include "cgpo/campaign/compare.hpp"

namespace cgpo {

struct CompareFlags : CompareRequest {
  bool json = false;
};

// Exit code: 0 when all runs are done, 1 if one of them failed, 128 + the signal's number if one ended it early.
int compare_command(const CompareFlags& flags);

}  // namespace cgpo
