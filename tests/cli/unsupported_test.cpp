// What someone at a command line reads of a robot that the engine does not know whole. The task is one of the test's
// own, so the command line runs in this process.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/cli/command_line.hpp"
#include "cgpo/tasks/registry.hpp"

#include "incomplete_task.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;

TEST(Unsupported, IsNamedWithWhatToDo) {
  task_registry().push_back({"incomplete", {}, [](const TaskOptions&) { return make_task(Incomplete{}); }});
  const ScratchFolder scratch;
  const std::string out = (scratch / "run").string();
  std::vector<const char*> words = {"cgpo",           "train",          "incomplete", "--set",
                                    "iterations=1",   "environments=4", "window=5",   "critic.steps=1",
                                    "critic.batch=4", "--json",         "--out",      out.c_str()};
  const auto run = [&] { return run_command_line(static_cast<int>(words.size()), words.data()); };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "cgpo: task incomplete: the own engine does not support tendon 'string'; --allow-unsupported trains "
            "without, --set task.engine=mujoco on MuJoCo's step, with it but for the derivatives\n");
  EXPECT_FALSE(std::filesystem::exists(out));

  words.push_back("--allow-unsupported");
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("left out: tendon 'string'"));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("\"finished\":true"));
  task_registry().pop_back();
}

}  // namespace
}  // namespace cgpo
