#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sstream>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "cgpo/base/file.hpp"

namespace cgpo {
namespace fs = std::filesystem;

ProgramTest::ProgramTest() {
  std::string pattern = (fs::temp_directory_path() / "cgpo-cli-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder for the test");
  folder_ = pattern;
}

ProgramTest::~ProgramTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

pid_t ProgramTest::start(const std::vector<std::string>& arguments, const std::string& name) const {
  std::vector<std::string> words = {name.empty() ? std::string(CGPO_PROGRAM) : at(name).string()};
  if (!name.empty() && !fs::exists(at(name))) fs::create_symlink(CGPO_PROGRAM, at(name));
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string out = at(".out").string();
  const std::string err = at(".err").string();
  const std::string folder = folder_.string();
  const pid_t process = ::fork();
  if (process == 0) {
    int pipe_ends[2] = {-1, -1};
    const int out_file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int err_file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (::chdir(folder.c_str()) != 0 || ::dup2(out_file, 1) < 0 || ::dup2(err_file, 2) < 0) ::_exit(99);
    if (nobody_reads_ && (::pipe(pipe_ends) != 0 || ::close(pipe_ends[0]) != 0 || ::dup2(pipe_ends[1], 1) < 0))
      ::_exit(97);
    const rlimit bound{address_space_, address_space_};
    if (address_space_ > 0 && ::setrlimit(RLIMIT_AS, &bound) != 0) ::_exit(97);
    ::execv(pointers[0], pointers.data());
    ::_exit(98);
  }
  return process;
}

ProgramOutcome ProgramTest::wait(pid_t process) const {
  int status = 0;
  ::waitpid(process, &status, 0);
  return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), read_file(at(".out")), read_file(at(".err"))};
}

ProgramOutcome ProgramTest::run(const std::vector<std::string>& arguments, const std::string& name) const {
  return wait(start(arguments, name));
}

std::vector<std::string> ProgramTest::small_training(const std::string& out, int iterations,
                                                     std::vector<std::string> more) const {
  std::vector<std::string> arguments = {"train",
                                        "function",
                                        "--out",
                                        out,
                                        "--set",
                                        "iterations=" + std::to_string(iterations),
                                        "environments=24",
                                        "horizon=20",
                                        "window=5",
                                        "limits=[1.9]",
                                        "policy.hidden=[8]",
                                        "critic.hidden=[8]",
                                        "critic.steps=4",
                                        "critic.batch=32",
                                        "kernel.block=8"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::map<std::string, std::string> ProgramTest::snapshot() const {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string name = fs::relative(entry.path(), folder_).string();
    if (name == ".out" || name == ".err") continue;
    files[name] = entry.is_regular_file()
                      ? std::to_string(entry.last_write_time().time_since_epoch().count()) + read_file(entry.path())
                      : "folder";
  }
  return files;
}

void ProgramTest::expect_refused(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& words) const {
  const auto before = snapshot();
  const ProgramOutcome outcome = run(arguments);
  const std::string line = ::testing::PrintToString(arguments);
  EXPECT_EQ(outcome.code, 2) << line << outcome.out;
  EXPECT_EQ(outcome.out, "") << line;
  EXPECT_TRUE(outcome.err.starts_with("cgpo: ")) << line << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << line << outcome.err;
  for (const std::string& word : words) EXPECT_THAT(outcome.err, ::testing::HasSubstr(word)) << line;
  EXPECT_EQ(snapshot(), before) << line;
}

std::string ProgramTest::log_without_seconds(const std::string& run) const {
  std::istringstream text(read_file(at(run) / "log.jsonl"));
  std::string result;
  for (std::string line; std::getline(text, line);) {
    nlohmann::ordered_json entry = nlohmann::ordered_json::parse(line);
    EXPECT_EQ(entry.erase("seconds"), 1U);
    result += entry.dump() + "\n";
  }
  return result;
}

void ProgramTest::expect_same_run(const std::string& a, const std::string& b) const {
  EXPECT_EQ(log_without_seconds(a), log_without_seconds(b));
  for (const char* name : {"checkpoint.safetensors", "config.toml", "version"}) {
    EXPECT_TRUE(read_file(at(a) / name) == read_file(at(b) / name)) << name;
  }
  ASSERT_EQ(fs::exists(at(a) / "best.safetensors"), fs::exists(at(b) / "best.safetensors"));
  if (fs::exists(at(a) / "best.safetensors")) {
    EXPECT_TRUE(read_file(at(a) / "best.safetensors") == read_file(at(b) / "best.safetensors"));
  }
}

int ProgramTest::wait_for_live_view() const {
  const std::string words = "live: http://127.0.0.1:";
  for (int tries = 0; tries < 30000; ++tries) {
    const std::string text = fs::exists(at(".out")) ? read_file(at(".out")) : "";
    const std::size_t found = text.find(words);
    if (found != std::string::npos && text.find('\n', found) != std::string::npos) {
      return std::stoi(text.substr(found + words.size()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return 0;
}

void ProgramTest::wait_for_lines(const std::string& run, int lines) const {
  for (int tries = 0; tries < 5000; ++tries) {
    std::error_code ignored;
    if (fs::exists(at(run) / "log.jsonl", ignored)) {
      const std::string text = read_file(at(run) / "log.jsonl");
      if (std::count(text.begin(), text.end(), '\n') >= lines) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  FAIL() << "the run did not get to " << lines << " iterations";
}

}  // namespace cgpo
