// Bad input: one sentence on standard error, exit code 2, and the disk is as it was.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BadInput : public ProgramTest {
 protected:
  // A run to spoil, and files that are in the way.
  void SetUp() override {
    ASSERT_EQ(run(small_training("run", 2)).code, 0);
    write_file_atomically(at("file"), "not a folder\n");
    write_file_atomically(at("broken.toml"), "iterations = \n");
    write_file_atomically(at("unknown.toml"), "iterations = 3\n[critic]\nstep = 3\n");
  }

  // A copy of the good run whose checkpoint is something else.
  void spoil(const std::string& name, const std::string& checkpoint) {
    fs::copy(at("run"), at(name), fs::copy_options::recursive);
    write_file_atomically(at(name) / "checkpoint.safetensors", checkpoint);
  }
};

// MuJoCo's library would end in an illegal instruction before the program begins.
TEST_F(BadInput, ACpuThatMujocoCannotUse) {
  ::setenv("CGPO_ISA", "none", 1);
  expect_refused({"--version"}, {"cgpo: this CPU has no AVX"});
  expect_refused({"train", "function"}, {"this CPU has no AVX"});
  ::unsetenv("CGPO_ISA");
}

TEST_F(BadInput, Names) {
  expect_refused({"trian", "function"}, {"unknown command 'trian'", "did you mean 'train'?"});
  expect_refused({"train"}, {"no task", "function"});
  expect_refused({"train", "functoin"}, {"unknown task 'functoin'", "did you mean 'function'?"});
  expect_refused({"train", "my_robot.xml"}, {"my_robot.xml is a robot", "a task file names it"});
  expect_refused({"train", "function", "--algo", "cgpoo"}, {"unknown algorithm 'cgpoo'", "did you mean 'cgpo'?"});
  expect_refused({"train", "function", "--preset", "pper"}, {"unknown preset 'pper'", "did you mean 'paper'?"});
  expect_refused({"train", "function", "--sed", "3"}, {"unknown option '--sed'", "did you mean '--seed'?"});
  expect_refused({"train", "function", "another"}, {"another"});
  expect_refused({"train", "function", "--iterations", "3"}, {"unknown option '--iterations'", "--set iterations=…"});
  expect_refused({"train", "function", "--radius.lower=1"}, {"--set radius.lower=…"});
  expect_refused({"train", "function", "--out", ""}, {"--out must not be empty"});
  expect_refused({"train", "function", "--then", "mujoco"}, {"--then is for tasks with two engines", "function"});
  expect_refused({"train", "ant", "--then", "mujoco", "--set", "task.engine=own"},
                 {"--then mujoco", "task.engine=\"own\""});
  expect_refused({"train", "ant", "--then", "mujoco", "--set", "twin.first=0"}, {"twin.first must be above 0"});
  expect_refused({"tasks", "--jsn"}, {"unknown option '--jsn'", "did you mean '--json'?"});
  expect_refused({"--jsn"}, {"unknown option '--jsn'"});
}

TEST_F(BadInput, Settings) {
  expect_refused({"settings", "ants"}, {"unknown task 'ants'", "did you mean 'ant'?"});
  expect_refused({"settings", "--algo", "pppo"}, {"unknown algorithm 'pppo'", "did you mean 'ppo'?"});
  expect_refused({"settings", "ant", "--preset", "pper"}, {"unknown preset 'pper'"});
  expect_refused({"settings", "--set", "task.engine=own"}, {"task.engine is of a task"});
  expect_refused({"settings", "ant", "more"}, {"does not take 'more'"});
}

TEST_F(BadInput, Reproductions) {
  expect_refused({"reproduce"}, {"reproduce needs a name", "table1", "all"});
  expect_refused({"reproduce", "tabel1"}, {"no 'tabel1' to reproduce", "did you mean 'table1'?"});
  expect_refused({"reproduce", "errors", "--seeds", "0"}, {"--seeds must be a whole number from 1"});
  expect_refused({"reproduce", "errors", "--quik"}, {"unknown option '--quik'", "did you mean '--quick'?"});
}

TEST_F(BadInput, Values) {
  expect_refused({"train", "function", "--seed", "-1"}, {"--seed must be a whole number from 0", "'-1'"});
  expect_refused({"train", "function", "--seed", "abc"}, {"--seed must be a whole number", "'abc'"});
  expect_refused({"train", "function", "--seed"}, {"--seed"});
  expect_refused({"train", "function", "--threads", "0"}, {"--threads must be a whole number from 1"});
  expect_refused({"train", "function", "--set", "radius.inital=1"},
                 {"radius.inital", "did you mean 'radius.initial'?"});
  expect_refused({"train", "function", "--set", "iterations=0"}, {"iterations must be a whole number from 1"});
  expect_refused({"train", "function", "--set", "iterations=many"}, {"iterations must be a whole number"});
  expect_refused({"train", "function", "--set", "limits=[1,2]"}, {"limits"});
  expect_refused({"train", "function", "--set", "costs=hight"}, {"did you mean 'height'?"});
  expect_refused({"train", "function", "--resume", "--force"}, {"--force", "--resume"});
  expect_refused({"eval", "run", "--episodes", "0"}, {"--episodes must be a whole number from 1"});
  expect_refused({"eval", "run", "--checkpoint", "bset"}, {"--checkpoint must be last or best"});
  expect_refused({"check", "function-floor"}, {"function-floor", "no derivative"});
  expect_refused({"check", "function", "--window", "0"}, {"--window must be a whole number from 1"});
}

TEST_F(BadInput, Files) {
  expect_refused({"train", "function", "--config", "missing.toml"}, {"missing.toml"});
  expect_refused({"train", "function", "--config", "broken.toml"}, {"broken.toml, line 1"});
  expect_refused({"train", "function", "--config", "unknown.toml"},
                 {"unknown.toml, line 3", "did you mean 'critic.steps'?"});
  expect_refused({"train", "function", "--init", "missing"}, {"missing"});
  expect_refused({"eval"}, {"RUN"});
  expect_refused({"eval", "missing"}, {"missing"});
  expect_refused({"eval", "file"}, {"'file'"});
}

TEST_F(BadInput, Folders) {
  expect_refused(small_training("run", 2), {"'run' holds a run already", "--resume", "--force"});
  expect_refused(small_training("file", 2), {"'file' is a file"});
  expect_refused(small_training("file/run", 2), {"file/run"});
  expect_refused(small_training("/proc/run", 2), {"/proc/run"});
  expect_refused({"train", "function", "--out", "missing", "--resume"}, {"there is no run 'missing'"});
  expect_refused(small_training("run", 3, {"--resume", "--seed", "4"}), {"seed is 0"});
  expect_refused({"train", "--out", "run", "--resume", "--set", "window=4"}, {"window is 5"});
  expect_refused({"train", "--out", "run", "--resume", "--set", "iterations=1"}, {"iterations", "done 2"});
  // What can be refused is refused before --force touches anything.
  expect_refused(small_training("run", 2, {"--force", "--init", "missing"}), {"missing"});
  fs::create_directory_symlink(at("run"), at("link"));
  expect_refused(small_training("link", 2, {"--force"}), {"'link' is a symbolic link"});
  fs::remove_all(at("run/snapshots"));
  write_file_atomically(at("run/snapshots"), "a file");
  for (const std::string mode : {"--force", "--resume"}) {
    expect_refused(small_training("run", 3, {mode}), {"run/snapshots' must be a folder"});
  }
}

TEST_F(BadInput, Checkpoints) {
  const std::string good = read_file(at("run/checkpoint.safetensors"));
  spoil("truncated", good.substr(0, good.size() - 10));
  spoil("tiny", "abc");
  spoil("foreign", "PK\x03\x04 this is another kind of file altogether");
  spoil("empty", "");
  std::string flipped = good;
  flipped[good.size() - 30] = static_cast<char>(flipped[good.size() - 30] ^ 0x40);
  spoil("flipped", flipped);
  for (const std::string name : {"truncated", "tiny", "foreign", "empty", "flipped"}) {
    expect_refused({"eval", name}, {name + "/checkpoint.safetensors"});
    expect_refused({"train", "--out", name, "--resume", "--set", "iterations=9"}, {name + "/checkpoint.safetensors"});
    fs::remove(at(name) / "best.safetensors");
    expect_refused({"train", "function", "--init", name, "--out", "new"}, {name + "/checkpoint.safetensors"});
  }
  // Another seed's, and one with other settings.
  ASSERT_EQ(run(small_training("seed", 2, {"--seed", "1"})).code, 0);
  ASSERT_EQ(run(small_training("window", 2, {"--set", "window=4"})).code, 0);
  for (const std::string other : {"seed", "window"}) {
    spoil("of-" + other, read_file(at(other + "/checkpoint.safetensors")));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"eval", "of-" + other},
          std::vector<std::string>{"train", "--out", "of-" + other, "--resume", "--set", "iterations=9"}}) {
      expect_refused(words, {"is a checkpoint of ", other == "seed" ? "seed 1, not 0" : "other settings"});
    }
  }
  // One of the same program, but of another network.
  ASSERT_EQ(
      run({"train", "function", "--out", "wide", "--set", "iterations=1", "environments=8", "critic.steps=1"}).code, 0);
  spoil("other", read_file(at("wide/checkpoint.safetensors")));
  expect_refused({"eval", "other"}, {"other/checkpoint.safetensors"});
  expect_refused({"train", "--out", "other", "--resume", "--set", "iterations=9"}, {"other/checkpoint.safetensors"});
}

}  // namespace
}  // namespace cgpo
