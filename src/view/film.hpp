// A page with the robot moving, and films and pictures of it, as files.
#pragma once

#include <optional>
#include <string>

#include "cgpo/base/json.hpp"
#include "cgpo/base/listener.hpp"
#include "cgpo/view/replay.hpp"

namespace cgpo {

struct ReplayRequest {
  std::string run;
  Consent consent;                 // to start the run's simulator, if it is a program
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
};

// Writes what was asked for, and says what that is: "out" and "bytes" of the page, "frames", "video" and "folder" of
// the pictures, and return and costs of every episode of its "policies". Throws UserError, for what is wrong with the
// request before anything is simulated.
Json make_replay(const ReplayRequest& request, const Listener& listener = {});

}  // namespace cgpo
