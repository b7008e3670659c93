#include "cgpo/view/browser.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "cgpo/base/base64.hpp"
#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
constexpr double kPatience = 60.0;  // seconds: a busy machine that draws in software is slow
constexpr double kFarewell = 5.0;   // seconds to end in

// The first of the usual names that is on the PATH.
std::string find_program() {
  for (const char* const name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    if (const fs::path found = find_on_path(name); !found.empty()) return found.string();
  }
  throw UserError("pictures are taken by Chromium, which is not installed (Debian: apt-get install chromium)");
}

UserError gone(const std::string& what) { return UserError("Chromium {}; no picture was taken", what); }

Process start_browser(int width, int height, const fs::path& profile) {
  ProcessPlan plan;
  plan.words = {find_program(),
                "--headless",
                "--remote-debugging-pipe",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-dev-shm-usage",
                "--force-device-scale-factor=1",
                "--user-data-dir=" + profile.string(),
                fmt::format("--window-size={},{}", width, height)};
  if (::geteuid() == 0) plan.words.emplace_back("--no-sandbox");  // the sandbox refuses to work for root
  plan.reads_at = 3;
  plan.writes_at = 4;
  plan.output = "/dev/null";  // what else it says is of no interest
  try {
    return Process(plan);
  } catch (const std::system_error&) {
    throw gone("cannot be started");
  }
}

}  // namespace

Browser::Browser(int width, int height) : process_(start_browser(width, height, profile_.path())) {
  const Json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}})
                 .at("sessionId")
                 .get<std::string>();
  call("Page.enable", Json::object());
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

Browser::~Browser() {
  process_.send_signal(SIGTERM);
  process_.end(kFarewell);
}

// Messages end with a zero byte.
std::string Browser::receive() {
  const Deadline deadline(kPatience);
  std::size_t end = 0;
  while ((end = buffer_.find('\0')) == std::string::npos) {
    std::array<char, 1 << 16> piece{};
    std::size_t size = 0;
    switch (process_.read_some(piece, deadline, size)) {
      case Process::Transfer::kDone: buffer_.append(piece.data(), size); break;
      case Process::Transfer::kTimeout: throw gone("does not answer");
      case Process::Transfer::kClosed: throw gone("has ended");
    }
  }
  std::string message = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return message;
}

Json Browser::call(const std::string& method, const Json& parameters) {
  Json message = {{"id", ++count_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  std::string text = message.dump();
  text += '\0';
  if (process_.write(text, Deadline(kPatience)) != Process::Transfer::kDone) throw gone("has ended");
  while (true) {
    Json answer = Json::parse(receive());
    if (answer.value("id", 0) != count_) continue;  // an event
    if (answer.contains("error")) throw gone(fmt::format("refuses {}", method));
    return answer.at("result");
  }
}

void Browser::open(const std::string& address) {
  call("Page.navigate", {{"url", address}});
  wait_for("document.readyState === 'complete' && location.href !== 'about:blank'");
}

Json Browser::run(const std::string& script) {
  const Json answer = call("Runtime.evaluate", {{"expression", script}, {"returnByValue", true}});
  if (answer.contains("exceptionDetails")) throw gone("met an error in the page");
  return answer.at("result").value("value", Json());
}

void Browser::wait_for(const std::string& script) {
  const Deadline deadline(kPatience);
  while (run("Boolean(" + script + ")") != true) {
    if (deadline.over()) throw gone("does not get the page ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string Browser::take_picture() {
  return decode_base64(call("Page.captureScreenshot", {{"format", "png"}}).at("data").get<std::string>());
}

}  // namespace cgpo
