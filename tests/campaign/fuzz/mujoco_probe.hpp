// MuJoCo's compiler in a process of its own, which may die.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <mujoco/mujoco.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cgpo::fuzz {

// The other side: this program again, told by its environment to compile what comes in and to say that it lives.
inline constexpr const char* kProbeVariable = "CGPO_MUJOCO_PROBE";

inline bool transfer(int file, char* data, std::size_t size, bool write, int patience_ms) {
  while (size > 0) {
    pollfd ready{file, static_cast<short>(write ? POLLOUT : POLLIN), 0};
    if (::poll(&ready, 1, patience_ms) <= 0) return false;
    const ssize_t count = write ? ::write(file, data, size) : ::read(file, data, size);
    if (count <= 0) return false;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

[[noreturn]] inline void run_mujoco_probe() {
  mju_setLogHandler([](const mjLogMessage* message) {
    if (message->level == mjLOG_ERROR) throw 0;
  });
  std::string xml;
  for (std::uint32_t size = 0; transfer(0, reinterpret_cast<char*>(&size), sizeof(size), false, -1);) {
    xml.resize(size);
    if (!transfer(0, xml.data(), size, false, -1)) break;
    mjVFS files;
    mj_defaultVFS(&files);
    mj_addBufferVFS(&files, "text.xml", xml.data(), static_cast<int>(size));
    std::array<char, 1000> message{};
    try {
      if (mjModel* const model = mj_loadXML("text.xml", &files, message.data(), 1000)) mj_deleteModel(model);
    } catch (int) {  // its error handler
    }
    mj_deleteVFS(&files);
    char alive = 1;
    if (!transfer(1, &alive, 1, true, -1)) break;
  }
  ::_exit(0);
}

class MujocoProbe {
 public:
  ~MujocoProbe() {
    stop();
    std::fprintf(stderr, "stat::mujoco_crashes: %d\nstat::mujoco_hangs: %d\n", crashes_, hangs_);
  }

  bool survives(const std::string& xml) {
    if (child_ > 0 && ++asked_ > kRenewAfter) stop();  // it leaks
    if (child_ <= 0) start();
    auto size = static_cast<std::uint32_t>(xml.size());
    char answer = 0;
    const bool sent = transfer(to_, reinterpret_cast<char*>(&size), sizeof(size), true, kPatience) &&
                      transfer(to_, const_cast<char*>(xml.data()), xml.size(), true, kPatience);
    if (sent && transfer(from_, &answer, 1, false, kPatience)) return true;
    ++(gone() ? crashes_ : hangs_);
    keep(xml);
    stop();
    return false;
  }

 private:
  static constexpr int kRenewAfter = 2000;
  static constexpr int kPatience = 8000;  // milliseconds

  // Whether its output is closed: it is dying, or has died and waits for us.
  bool gone() const {
    pollfd state{from_, POLLIN, 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0;
  }

  // For a report to MuJoCo's authors, if somebody wants one.
  void keep(const std::string& xml) const {
    const char* const folder = std::getenv("CGPO_MUJOCO_CRASHES");
    if (folder == nullptr) return;
    const std::string path =
        std::string(folder) + "/" + std::to_string(::getpid()) + "-" + std::to_string(crashes_ + hangs_) + ".xml";
    if (std::FILE* const file = std::fopen(path.c_str(), "w")) {
      std::fwrite(xml.data(), 1, xml.size(), file);
      std::fclose(file);
    }
  }

  void start() {
    std::signal(SIGPIPE, SIG_IGN);
    int down[2];
    int up[2];
    if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, down[0], 0);
    posix_spawn_file_actions_adddup2(&files, up[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    const std::string told = std::string(kProbeVariable) + "=1";
    const char* const folder = std::getenv("LD_LIBRARY_PATH");
    const std::string libraries = std::string("LD_LIBRARY_PATH=") + (folder != nullptr ? folder : "");
    const char* const words[] = {"fuzz_mjcf", nullptr};
    const char* const environment[] = {told.c_str(), libraries.c_str(),
                                       "ASAN_OPTIONS=detect_leaks=0:max_allocation_size_mb=1000", nullptr};
    if (::posix_spawn(&child_, "/proc/self/exe", &files, nullptr, const_cast<char* const*>(words),
                      const_cast<char* const*>(environment)) != 0) {
      std::abort();
    }
    posix_spawn_file_actions_destroy(&files);
    ::close(down[0]);
    ::close(up[1]);
    to_ = down[1];
    from_ = up[0];
    asked_ = 0;
  }

  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(to_);
    ::close(from_);
    child_ = -1;
  }

  pid_t child_ = -1;
  int to_ = -1;
  int from_ = -1;
  int asked_ = 0;
  int crashes_ = 0;
  int hangs_ = 0;
};

}  // namespace cgpo::fuzz
