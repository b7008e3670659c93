// A robot with elements that the engine does not know is trained only when told so.
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/cli/train_command.hpp"
#include "cgpo/tasks/registry.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

struct Incomplete {
  TaskSpec spec() const {
    TaskSpec spec;
    spec.name = "incomplete";
    spec.states = 1;
    spec.observations = 1;
    spec.actions = 1;
    spec.horizon = 5;
    spec.costs = {{.name = "x", .limit = 1.0}};
    spec.unsupported = {"tendon 'string'"};
    return spec;
  }
  void reset(RandomStream& random, std::span<double> state) const { state[0] = random.uniform(); }
  template <class S>
  void observe(std::span<const S> s, std::span<S> o) const {
    o[0] = s[0];
  }
  template <class S>
  StepResult<S> step(std::span<const S> s, std::span<const S> a) const {
    return {.state = {s[0] + a[0]}, .reward = a[0], .reward_paper = a[0], .costs = {s[0]}, .ended = S(0.0)};
  }
};

TEST(Unsupported, IsRefusedUnlessAllowed) {
  task_registry().push_back({"incomplete", {}, [](const TaskOptions&) { return make_task(Incomplete{}); }});
  const ScratchFolder scratch;
  TrainRequest request;
  request.configuration.task = "incomplete";
  for (const char* set : {"iterations=1", "environments=4", "window=5", "critic.steps=1", "critic.batch=4"}) {
    request.configuration.sets.push_back(parse_assignment(set));
  }
  request.out = (scratch / "run").string();
  request.json = true;
  try {
    train_command(request);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("tendon 'string'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("--allow-unsupported"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(*request.out));

  request.allow_unsupported = true;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(train_command(request), 0);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("left out: tendon 'string'"), std::string::npos);
  task_registry().pop_back();
}

}  // namespace
}  // namespace cgpo
