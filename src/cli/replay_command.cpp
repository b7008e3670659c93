// `cgpo replay`: its flags. view/replay_command.hpp has the rest.
#include "cgpo/view/replay_command.hpp"

#include "cgpo/base/error.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/commands.hpp"

namespace cgpo {
namespace {

int check_and_replay(const ReplayRequest& request, const Given& given) {
  if (request.run.empty()) throw UserError("replay needs the folder of a run: {} replay RUN", program_name());
  for (const char* name : {"--show", "--size", "--theme", "--fps", "--from", "--seconds"}) {
    if (given(name) && !request.video && !request.frames) {
      throw UserError("{} is of a film: it needs --video FILE or --frames FOLDER", name);
    }
  }
  return replay_command(request);
}

}  // namespace

Command make_replay_command() {
  const auto owned = std::make_shared<ReplayRequest>();
  ReplayRequest& request = *owned;
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
           threads_flag(request.threads),
           json_flag(request.json)},
          [owned](const Given& given) { return check_and_replay(*owned, given); }};
}

}  // namespace cgpo
