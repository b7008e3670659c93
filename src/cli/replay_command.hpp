// `cgpo replay`: a page with the robot moving, and films and pictures of it.
#pragma once

#include "cgpo/view/film.hpp"

namespace cgpo {

struct ReplayFlags : ReplayRequest {
  bool json = false;
};

int replay_command(const ReplayFlags& flags);

}  // namespace cgpo
