// Environments in C++ that cannot be made.
#include "cgpo/tasks/outside/environment.hpp"

#include <gmock/gmock.h>
#include <stdexcept>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TaskSpec spec() {
  TaskSpec result;
  result.name = "tank";
  result.observations = result.actions = 1;
  return result;
}

TEST(Environment, AnEnvironmentThatCannotBeMadeIsToldInASentence) {
  const auto reset = [](const Task& task) {
    RandomStream random(1, Purpose::kTest);
    double state = 0.0;
    task.reset(random, {&state, 1});
  };
  const auto throws =
      make_environment_task(spec(), []() -> std::unique_ptr<Environment> { throw std::runtime_error("no licence"); });
  EXPECT_THAT([&] { reset(*throws); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("task tank"), HasSubstr("no licence"))));
  const auto nothing = make_environment_task(spec(), [] { return std::unique_ptr<Environment>(); });
  EXPECT_THAT([&] { reset(*nothing); }, ThrowsMessage<UserError>(HasSubstr("no environment was made")));
}

}  // namespace
}  // namespace cgpo
