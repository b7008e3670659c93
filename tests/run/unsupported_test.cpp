// A robot with elements that the engine does not know is trained only when told so.
#include <gtest/gtest.h>

#include "cgpo/run/open_run.hpp"
#include "cgpo/tasks/registry.hpp"

#include "incomplete_task.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

TEST(Unsupported, IsRefusedUnlessAllowed) {
  task_registry().push_back({"incomplete", {}, [](const TaskOptions&) { return make_task(Incomplete{}); }});
  const ScratchFolder scratch;
  ConfigurationRequest request;
  request.task = "incomplete";
  for (const char* set : {"iterations=1", "environments=4", "window=5", "critic.steps=1", "critic.batch=4"}) {
    request.sets.push_back(parse_assignment(set));
  }
  const Configuration configuration = resolve_configuration(request);
  try {
    open_run(configuration, {.folder = scratch / "run"});
    FAIL();
  } catch (const UnsupportedElements& error) {
    EXPECT_EQ(error.task(), "incomplete");
    EXPECT_EQ(error.elements(), std::vector<std::string>{"tendon 'string'"});
    EXPECT_EQ(std::string(error.what()), "task incomplete: the own engine does not support tendon 'string'");
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));

  cgpo::Run run = open_run(configuration, {.folder = scratch / "run", .allow_unsupported = true});
  EXPECT_TRUE(run.train().finished);
  task_registry().pop_back();
}

}  // namespace
}  // namespace cgpo
