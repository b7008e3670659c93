// `cgpo replay`: a page with the robot moving, and films and pictures of it.
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/status_line.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/view/film.hpp"

namespace cgpo {
namespace {

struct ReplayFlags {
  ReplayRequest request;
  std::vector<std::string> sets;
  bool allow_command = false;
  bool json = false;
};

int replay(ReplayFlags& flags, const Given& given) {
  ReplayRequest& request = flags.request;
  if (request.run.empty()) throw UserError("replay needs the folder of a run: {} replay RUN", program_name());
  for (const char* name : {"--show", "--size", "--theme", "--fps", "--from", "--seconds"}) {
    if (given(name) && !request.video && !request.frames) {
      throw UserError("{} is of a film: it needs --video FILE or --frames FOLDER", name);
    }
  }
  request.consent = consent_from(flags.sets, flags.allow_command);
  StatusLine line;
  const Json result = make_replay(request, line.listener());
  if (flags.json) {
    say_json(result);
    return 0;
  }
  for (const auto& [key, word] :
       {std::pair("out", "replay"), std::pair("video", "video"), std::pair("folder", "folder")}) {
    if (result.contains(key)) say("{:<7} {}\n", word, result.at(key).get<std::string>());
  }
  return 0;
}

}  // namespace

Command make_replay_command() {
  const auto owned = std::make_shared<ReplayFlags>();
  ReplayRequest& request = owned->request;
  return {{{"RUN", Text{&request.run}, "the folder of a run"},
           {"--out", FilledText{&request.out}, "the page (RUN/replay.html)", "FILE"},
           {"--episodes", whole(request.replay.episodes, 1, 16), "of each policy (1)"},
           {"--seed", seed(request.replay.seed), "of start states and noise (the run's own)"},
           {"--noise", Switch{&request.replay.noise}, "let the policy act with its noise"},
           {"--video", FilledText{&request.video}, "a film: .webp, .gif or .mp4; .png: one picture", "FILE"},
           {"--frames", FilledText{&request.frames}, "the film as pictures, in a new folder", "FOLDER"},
           {"--show", Text{&request.show}, "policies in the film: start, middle, end, best, last (start,middle,end)",
            "NAME,…"},
           {"--size", Text{&request.size}, "of the film, in pixels (720x400)", "WxH"},
           {"--theme", Text{&request.theme}, "of the film: light or dark (light)", "NAME"},
           {"--fps", whole(request.fps, 1, 60), "pictures a second (20)"},
           {"--from", Number{&request.from, 0.0, 1e6}, "seconds into the episode at which the film begins (0)"},
           {"--seconds", Number{&request.seconds, 0.01, 600.0}, "of the film (5)"},
           given_again_flag(owned->sets),
           allow_command_flag(owned->allow_command),
           threads_flag(request.threads),
           json_flag(owned->json)},
          [owned](const Given& given) { return replay(*owned, given); }};
}

}  // namespace cgpo
