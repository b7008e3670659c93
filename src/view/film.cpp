#include "cgpo/view/film.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/process.hpp"
#include "cgpo/view/browser.hpp"
#include "cgpo/view/report.hpp"
#include "cgpo/view/temporary_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

struct Size {
  int width = 0;
  int height = 0;
};

Size parse_size(const std::string& text) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  const auto height = cross ? std::from_chars(width.ptr + 1, end, size.height) : width;
  const auto allowed = [](int value) { return value >= 64 && value <= 4096; };
  if (!cross || height.ec != std::errc() || height.ptr != end || !allowed(size.width) || !allowed(size.height)) {
    throw UserError("--size must be WIDTHxHEIGHT in pixels, each from 64 to 4096, not '{}'", text);
  }
  return size;
}

enum class Film { kNone, kStill, kWebp, kFfmpeg };

Film film_of(const std::string& name) {
  const std::string ending = fs::path(name).extension().string();
  if (ending == ".png") return Film::kStill;
  if (ending == ".webp") return Film::kWebp;
  if (ending == ".gif" || ending == ".mp4") return Film::kFfmpeg;
  throw UserError("--video must end with .webp, .gif, .mp4, or .png for one picture, not '{}'", name);
}

// All that can be refused is refused before anything is simulated.
void check_request(const ReplayRequest& request) {
  parse_size(request.size);
  if (request.video) film_of(*request.video);
  if (request.theme != "light" && request.theme != "dark") {
    throw UserError("--theme must be light or dark, not '{}'", request.theme);
  }
  std::string rest = request.show;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string role = rest.substr(0, comma);
    if (role != "start" && role != "middle" && role != "end" && role != "best" && role != "last") {
      throw UserError("--show takes start, middle, end, best and last, with commas between, not '{}'", role);
    }
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  if (!request.frames) return;
  std::error_code ignored;
  if (fs::exists(*request.frames, ignored) && !fs::is_empty(*request.frames, ignored)) {
    throw UserError("--frames: '{}' is not empty; give a folder that is new or empty", *request.frames);
  }
}

// A path may hold what means something else in an address: %, # and ? among them.
std::string file_address(const fs::path& path) {
  std::string address = "file://";
  for (const char c : fs::absolute(path).string()) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

// Pictures of the stage alone, one for each moment, named 00000.png and on; how many there are.
int take_frames(const ReplayRequest& request, const fs::path& page, double period, const fs::path& folder,
                const Listener& listener) {
  const Size size = parse_size(request.size);
  Browser browser(size.width, size.height);
  browser.open(fmt::format("{}#only=stage&theme={}&show={}", file_address(page), request.theme, request.show));
  browser.wait_for("window.cgpo && window.cgpo.ready");
  if (browser.run("Boolean(cgpo.replay && cgpo.replay.stage)") != true) {
    throw UserError("the page cannot draw here: Chromium has no WebGL");
  }
  const double last = browser.run("cgpo.replay.show(0)").get<double>();
  const bool still = request.video && film_of(*request.video) == Film::kStill && !request.frames;
  const int wanted = still ? 1 : std::max(1, static_cast<int>(std::lround(request.seconds * request.fps)));
  int taken = 0;
  for (int i = 0; i < wanted; ++i) {
    const double frame = (request.from + static_cast<double>(i) / request.fps) / period;
    if (i > 0 && frame > last) break;
    browser.run(fmt::format("cgpo.replay.show({})", std::min(frame, last)));
    write_file_atomically(folder / fmt::format("{:05}.png", i), browser.take_picture());
    ++taken;
    listener.status(fmt::format("{} of {} pictures", taken, wanted));
  }
  listener.status("");
  return taken;
}

// Of those that say something.
std::string last_line_of(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "it says nothing";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

void run_tool(const std::vector<std::string>& words, const std::string& package, const fs::path& folder) {
  const fs::path output = folder / "tool.out";
  const int code = run_program(words, folder, output);
  if (code == 127) {
    throw UserError("{} puts films together and is not installed (Debian: apt-get install {}); --frames works without",
                    words.front(), package);
  }
  if (code != 0) throw UserError("{} could not make the film: {}", words.front(), last_line_of(read_file(output)));
}

void make_film(const ReplayRequest& request, const fs::path& folder, int frames) {
  const fs::path target = *request.video;
  fs::path made = folder / ("film" + target.extension().string());
  switch (film_of(*request.video)) {
    case Film::kNone: return;
    case Film::kStill: made = folder / "00000.png"; break;
    case Film::kWebp: {
      std::vector<std::string> words = {"img2webp", "-loop", "0", "-lossy", "-q",
                                        "70",       "-m",    "4", "-d",     fmt::format("{}", 1000 / request.fps)};
      for (int i = 0; i < frames; ++i) words.push_back(fmt::format("{:05}.png", i));
      words.insert(words.end(), {"-o", made.filename().string()});
      run_tool(words, "webp", folder);
      break;
    }
    case Film::kFfmpeg: {
      std::vector<std::string> words = {"ffmpeg", "-y", "-framerate", fmt::format("{}", request.fps), "-i", "%05d.png"};
      if (target.extension() == ".gif") {
        words.insert(words.end(), {"-vf", "split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=none"});
      } else {
        words.insert(words.end(), {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"});
      }
      words.push_back(made.filename().string());
      run_tool(words, "ffmpeg", folder);
      break;
    }
  }
  write_file_atomically(target, read_file(made));
}

// Return and costs of every episode.
Json describe_policies(const Json& replay) {
  Json result = Json::array();
  for (const Json& policy : replay.at("policies")) {
    Json entry = {{"label", policy.at("label")}, {"iteration", policy.at("iteration")}, {"episodes", Json::array()}};
    for (const Json& episode : policy.at("episodes")) {
      Json costs = Json::array();
      for (std::size_t k = 1; k < episode.at("sums").size(); ++k) costs.push_back(episode.at("sums")[k].back());
      entry["episodes"].push_back(
          {{"steps", episode.at("length")}, {"return", episode.at("sums")[0].back()}, {"costs", costs}});
    }
    result.push_back(std::move(entry));
  }
  return result;
}

// Film and pictures of the page; adds to `result` what was made. period: seconds of a step.
void make_pictures(const ReplayRequest& request, const std::string& page, double period, const Listener& listener,
                   Json& result) {
  const TemporaryFolder scratch("cgpo-replay");
  const fs::path file = scratch.path() / "page.html";
  write_file_atomically(file, page);
  const int frames = take_frames(request, file, period, scratch.path(), listener);
  result["frames"] = frames;
  if (request.video) {
    make_film(request, scratch.path(), frames);
    result["video"] = *request.video;
  }
  if (request.frames) {
    fs::create_directories(*request.frames);
    for (int i = 0; i < frames; ++i) {
      const std::string name = fmt::format("{:05}.png", i);
      write_file_atomically(fs::path(*request.frames) / name, read_file(scratch.path() / name));
    }
    result["folder"] = *request.frames;
  }
}

}  // namespace

Json make_replay(const ReplayRequest& request, const Listener& listener) {
  check_request(request);
  const ReportedRun run = read_run(request.run, request.consent);
  ThreadPool pool(request.threads);
  // Here a policy that cannot be read is an error, not a sentence in the page.
  find_policies(run.paths, run.configuration);
  const Json data = page_data({run},
                              {.episodes = 0,
                               .curves = false,
                               .replays = request.replay.episodes,
                               .noise = request.replay.noise,
                               .seed = request.replay.seed},
                              pool);
  const Json& replay = data.at("runs").at(0).at("replay");
  if (replay.contains("problem")) throw UserError("{}", replay.at("problem").get<std::string>());
  const std::string page = page_from(data);

  Json result;
  const bool pictures = request.video || request.frames;
  if (request.out || !pictures) {
    const fs::path out = request.out ? fs::path(*request.out) : run.paths.folder / "replay.html";
    write_file_atomically(out, page);
    result["out"] = out.string();
    result["bytes"] = page.size();
  }
  if (pictures) {
    const double clock = replay.at("period").is_number() ? replay.at("period").get<double>() : 0.0;
    make_pictures(request, page, clock > 0.0 ? clock : 0.05, listener, result);
  }
  result["policies"] = describe_policies(replay);
  return result;
}

}  // namespace cgpo
