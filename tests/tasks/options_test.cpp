#include "cgpo/tasks/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(TaskOptions, BadValuesAreNamed) {
  TaskOptions options({{.name = "ending", .standard = std::string("stop"), .help = "", .choices = {"stop", "latched"}},
                       {.name = "scale", .standard = 1.0, .help = "", .low = 0.0, .high = 3.0},
                       {.name = "lift", .standard = true, .help = ""}});
  options.set("scale", 2.0);
  EXPECT_EQ(options.number("scale"), 2.0);
  EXPECT_EQ(options.text("ending"), "stop");
  EXPECT_TRUE(options.flag("lift"));
  EXPECT_THAT(message([&] { options.set("scael", 1.0); }), ::testing::HasSubstr("did you mean 'task.scale'"));
  EXPECT_THAT(message([&] { options.set("scale", 4.0); }), ::testing::HasSubstr("between 0 and 3"));
  EXPECT_THAT(message([&] { options.set("scale", true); }), ::testing::HasSubstr("must be a number"));
  EXPECT_THAT(message([&] { options.set("ending", std::string("stopp")); }),
              ::testing::HasSubstr("one of stop, latched"));
  EXPECT_EQ(options.number("scale"), 2.0);
}

TEST(Registry, UnknownNamesGetTheNearest) {
  EXPECT_THAT(message([] { find_task("functoin"); }), ::testing::HasSubstr("did you mean 'function'"));
  EXPECT_THAT(message([] { standard_task("function")->cost_index("hight"); }),
              ::testing::HasSubstr("did you mean 'height'"));
}

}  // namespace
}  // namespace cgpo
