// Every kind of bad configuration: one sentence that names the culprit and says what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/config/configuration.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string set_message(const std::string& set, const std::string& task = "function") {
  return message_of([&] {
    ConfigurationRequest request;
    request.task = task;
    request.sets.push_back(parse_assignment(set));
    resolve_configuration(request);
  });
}

std::string file_message(const std::string& text) {
  return message_of([&] {
    ConfigurationRequest request;
    request.task = "function";
    request.file = parse_document(text, "f.toml");
    resolve_configuration(request);
  });
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Each level is a call on the stack of the parser, of the reader or of a destructor.
TEST(BadFile, HasALimitToItsDepth) {
  for (const std::string& deep :
       {repeated("a.", 30000) + "b = 1", "[" + repeated("a.", 30000) + "b]\n",
        "a = " + repeated("[", 100000) + repeated("]", 100000),
        "a = " + repeated("{ a = ", 100000) + "1" + repeated("}", 100000), repeated("a.'b'.", 20000) + "c = 1"}) {
    EXPECT_THAT(file_message("iterations = 3\n" + deep),
                HasSubstr("f.toml, line 2: keys and lists are at most 32 deep"));
  }
  EXPECT_THAT(set_message("limits=" + repeated("[", 30000) + repeated("]", 30000)),
              HasSubstr("lists are at most 32 deep"));
  // Dots and brackets that are not depth.
  const std::string many = repeated("1.5, ", 500);
  EXPECT_THAT(file_message("limits = [" + many + "1.5]"), Not(HasSubstr("deep")));
  EXPECT_THAT(file_message("init = \"" + repeated("a.[", 500) + "\" # " + repeated("[.", 500)), Not(HasSubstr("deep")));
}

struct Case {
  std::string set;
  std::vector<std::string> words;  // all of these are in the message
};

class BadSet : public ::testing::TestWithParam<Case> {};

TEST_P(BadSet, IsNamedWithWhatIsAllowed) {
  const std::string message = set_message(GetParam().set);
  for (const std::string& word : GetParam().words) EXPECT_THAT(message, HasSubstr(word));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSet,
    ::testing::Values(
        Case{"radius.inital=1", {"unknown key 'radius.inital'", "did you mean 'radius.initial'?", "radius.upper"}},
        Case{"iteration=3", {"unknown key 'iteration'", "did you mean 'iterations'?"}},
        Case{"nonsense.xyz=3", {"unknown key 'nonsense.xyz'", "environments", "radius.*", "task.*"}},
        Case{"task.start_with=3", {"unknown key 'task.start_with'", "did you mean 'task.start_width'?"}},
        Case{"task.start_width=true", {"task.start_width must be a number"}},
        Case{"task.start_width=-1", {"task.start_width must be between 0 and 100", "-1"}},
        Case{"iterations=0", {"iterations must be a whole number from 1", "not 0"}},
        Case{"iterations=2.5", {"iterations must be a whole number", "not 2.5"}},
        Case{"iterations=many", {"iterations must be a whole number", "not \"many\""}},
        Case{"environments=99999999999", {"environments must be a whole number"}},
        Case{"policy.learn_std=1", {"policy.learn_std must be true or false", "not 1"}},
        Case{"policy.hidden=[]", {"policy.hidden must be a list of 1 to 8"}},
        Case{"policy.hidden=[64, 0]", {"policy.hidden must be a list"}},
        Case{"radius.test=fxed",
             {"radius.test must be one of \"paper\", \"one-sided\", \"paired\", \"fixed\"", "did you mean 'fixed'?"}},
        Case{"radius.shrink=1", {"radius.shrink must be a number above 0 and below 1"}},
        Case{"radius.grow=1", {"radius.grow must be a number above 1"}},
        Case{"radius.confidence=0.2", {"radius.confidence must be a number of at least 0.5 and below 1, or 0"}},
        Case{"radius.initial=nan", {"radius.initial must be a number above 0"}},
        Case{"radius.initial=inf", {"radius.initial must be a number above 0"}},
        Case{"radius.initial=1", {"radius.initial (1) must lie between radius.lower", "radius.upper"}},
        Case{"radius.lower=1", {"radius.lower (1) must not be above radius.upper"}},
        Case{"radius.eta_low=0.8", {"radius.eta_low (0.8) must be below radius.eta_high"}},
        Case{"critic.batch=0", {"critic.batch must be a whole number from 1"}},
        Case{"window=101", {"window (101) must not be longer than the horizon (100)"}},
        Case{"limits=[1.0, 2.0]", {"limits", "2", "1 cost"}},
        Case{"limits=[nan]", {"limits must be a list of numbers"}},
        Case{"limits=[\"a\"]", {"limits must be a list of numbers"}},
        Case{"costs=hight", {"hight", "did you mean 'height'?"}},
        Case{"costs=[\"height\", \"height\"]", {"costs", "twice"}}, Case{"seed=3", {"seed", "--seed"}},
        Case{"costs=[speed]", {"costs", "not a TOML value", "need quotes"}},
        Case{"iterations=[1,", {"iterations", "not a TOML value"}},
        Case{"iterations={a = 1}", {"iterations", "not a single"}},
        Case{"iterations", {"--set takes key=value, not 'iterations'"}}));

TEST(BadFile, NamesFileAndLine) {
  EXPECT_THAT(file_message("iterations = 5\nwindow = = 3\n"), AllOf(HasSubstr("f.toml, line 2"), HasSubstr("TOML")));
  EXPECT_THAT(file_message("iterations = 5\n[radius]\ninital = 3\n"),
              AllOf(HasSubstr("f.toml, line 3"), HasSubstr("did you mean 'radius.initial'?")));
  EXPECT_THAT(file_message("iterations = 1979-05-27\n"), AllOf(HasSubstr("f.toml, line 1"), HasSubstr("iterations")));
  EXPECT_THAT(file_message("seed = -3\n"), HasSubstr("seed must be a whole number"));
  EXPECT_THAT(file_message("algorithm = 3\n"), HasSubstr("algorithm must be a text"));
  EXPECT_THAT(file_message("task.name = \"function-floor\"\n"), HasSubstr("'function-floor', not 'function'"));
}

TEST(BadName, IsMetWithTheNearestOne) {
  EXPECT_THAT(set_message("iterations=1", "functoin"), HasSubstr("did you mean 'function'?"));
  EXPECT_THAT(message_of([] { resolve_configuration({}); }), AllOf(HasSubstr("no task"), HasSubstr("function")));
  ConfigurationRequest request;
  request.task = "function";
  request.algorithm = "cgop";
  EXPECT_THAT(message_of([&] { resolve_configuration(request); }), HasSubstr("did you mean 'cgpo'?"));
  request.algorithm = "cgpo";
  request.preset = "papr";
  EXPECT_THAT(message_of([&] { resolve_configuration(request); }), HasSubstr("did you mean 'paper'?"));
}

}  // namespace
}  // namespace cgpo
