// `cgpo replay`: a page with the robot moving, and films and pictures of it.
#pragma once

#include <optional>
#include <string>

#include "cgpo/view/replay.hpp"

namespace cgpo {

struct ReplayRequest {
  std::string run;
  std::optional<std::string> out;  // the page; RUN/replay.html
  ReplayOptions replay;
  std::optional<std::string> video;   // .webp, .gif, .mp4; .png: one picture
  std::optional<std::string> frames;  // a folder for pictures
  std::string show;                   // policies of a film: start, middle, end, best, last, with commas between
  std::string theme = "light";
  std::string size = "720x400";
  int fps = 20;
  double from = 0.0;     // seconds into the episode
  double seconds = 5.0;  // of a film
  int threads = 1;
  bool json = false;
};

int replay_command(const ReplayRequest& request);

}  // namespace cgpo
