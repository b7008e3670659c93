#include "cgpo/view/browser.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/view/base64.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{60};  // a busy machine that draws in software is slow

// The first of the usual names that is on the PATH.
std::string find_program() {
  const char* const path = std::getenv("PATH");
  for (const char* const name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    std::string rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
      if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
      rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
  }
  throw UserError("pictures are taken by Chromium, which is not installed (Debian: apt-get install chromium)");
}

UserError gone(const std::string& what) { return UserError("Chromium {}; no picture was taken", what); }

}  // namespace

Browser::Browser(int width, int height) {
  std::string pattern = (fs::temp_directory_path() / "cgpo-browser-XXXXXX").string();
  std::vector<std::string> words = {find_program(),
                                    "--headless",
                                    "--remote-debugging-pipe",
                                    "--use-angle=swiftshader",
                                    "--enable-unsafe-swiftshader",
                                    "--hide-scrollbars",
                                    "--no-first-run",
                                    "--disable-extensions",
                                    "--disable-background-networking",
                                    "--disable-dev-shm-usage",
                                    "--force-device-scale-factor=1"};
  if (::geteuid() == 0) words.emplace_back("--no-sandbox");  // the sandbox refuses to work for root
  if (::mkdtemp(pattern.data()) == nullptr) throw UserError("cannot make a folder for Chromium in '{}'", pattern);
  profile_ = pattern;
  words.push_back("--user-data-dir=" + pattern);
  words.push_back(fmt::format("--window-size={},{}", width, height));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw gone("cannot be talked to");
  process_ = ::fork();
  if (process_ == 0) {
    // It reads from file 3 and writes to file 4; what else it says is of no interest.
    const int nowhere = ::open("/dev/null", O_RDWR);
    const int high_in = ::fcntl(in[0], F_DUPFD, 10);
    const int high_out = ::fcntl(out[1], F_DUPFD, 10);
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    ::dup2(high_in, 3);
    ::dup2(high_out, 4);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  try {
    const Json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}})
                   .at("sessionId")
                   .get<std::string>();
    call("Page.enable", Json::object());
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  } catch (...) {
    stop();
    throw;
  }
}

Browser::~Browser() { stop(); }

void Browser::stop() {
  ::close(to_);
  ::close(from_);
  ::kill(process_, SIGTERM);
  for (int tries = 0; ::waitpid(process_, nullptr, WNOHANG) == 0; ++tries) {
    if (tries == 100) ::kill(process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::error_code ignored;
  fs::remove_all(profile_, ignored);
}

// Messages end with a zero byte.
std::string Browser::receive() {
  const Clock::time_point deadline = Clock::now() + kPatience;
  std::size_t end = 0;
  while ((end = buffer_.find('\0')) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wanted{.fd = from_, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&wanted, 1, static_cast<int>(left)) == 0) throw gone("does not answer");
    std::array<char, 1 << 16> piece{};
    const ssize_t size = ::read(from_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw gone("has ended");
    buffer_.append(piece.data(), static_cast<std::size_t>(size));
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
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t size = ::write(to_, text.data() + sent, text.size() - sent);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw gone("has ended");
    sent += static_cast<std::size_t>(size);
  }
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
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (run("Boolean(" + script + ")") != true) {
    if (Clock::now() > deadline) throw gone("does not get the page ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string Browser::take_picture() {
  return decode_base64(call("Page.captureScreenshot", {{"format", "png"}}).at("data").get<std::string>());
}

}  // namespace cgpo
