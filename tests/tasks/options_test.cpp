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

TEST(TaskOptions, WhatAFileAloneSaysIsShownAndNotRun) {
  TaskOptions options({{.name = "command", .standard = std::string(), .help = "", .executes = true},
                       {.name = "ending", .standard = std::string("stop"), .help = ""}});
  options.set_unconfirmed("ending", std::string("latched"), "f.toml, line 2");  // no program
  EXPECT_EQ(options.text("ending"), "latched");
  options.set_unconfirmed("command", std::string(), "f.toml, line 3");  // nothing to start
  EXPECT_EQ(options.text("command"), "");
  options.set_unconfirmed("command", std::string("rm \x1b[8m-r ~"), "f.toml, line 4");
  EXPECT_EQ(std::get<std::string>(options.values().at("command")), "rm \x1b[8m-r ~");
  const TaskOptions copy = options;
  for (const TaskOptions* each : std::initializer_list<const TaskOptions*>{&options, &copy}) {
    EXPECT_THAT(
        message([&] { each->text("command"); }),
        ::testing::AllOf(::testing::HasSubstr("f.toml, line 4: "), ::testing::HasSubstr("`rm \\x1b[8m-r ~`"),
                         ::testing::HasSubstr("--allow-command"), ::testing::HasSubstr("--set 'task.command=")));
  }
  options.set("command", std::string("ls"));
  EXPECT_EQ(options.text("command"), "ls");
}

TEST(Registry, UnknownNamesGetTheNearest) {
  EXPECT_THAT(message([] { find_task("functoin"); }), ::testing::HasSubstr("did you mean 'function'"));
  EXPECT_THAT(message([] { standard_task("function")->cost_index("hight"); }),
              ::testing::HasSubstr("did you mean 'height'"));
}

}  // namespace
}  // namespace cgpo
