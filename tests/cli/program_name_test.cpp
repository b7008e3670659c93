// A program of the user's own that hands over to our command line has its own name in every message.
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ProgramName : public ProgramTest {};

TEST_F(ProgramName, IsInErrorsAndUsage) {
  const ProgramOutcome error = run({"train", "functoin"}, "my_tasks");
  EXPECT_EQ(error.code, 2);
  EXPECT_THAT(error.err, StartsWith("my_tasks: unknown task"));
  EXPECT_THAT(run({"train", "function", "--sed"}, "my_tasks").err, HasSubstr("`my_tasks train --help`"));
  EXPECT_THAT(run({"model"}, "my_tasks").err, HasSubstr("my_tasks model FILE.xml"));
  EXPECT_THAT(run({"eval"}, "my_tasks").err, HasSubstr("my_tasks eval RUN"));
  EXPECT_THAT(run({"tasks", "more"}, "my_tasks").err, HasSubstr("my_tasks tasks does not take 'more'"));
  const ProgramOutcome help = run({"--help"}, "my_tasks");
  EXPECT_THAT(help.out,
              AllOf(HasSubstr("Usage: my_tasks"), HasSubstr("Try:  my_tasks tasks"), Not(HasSubstr("cgpo t"))));
  EXPECT_THAT(run({"train", "--help"}, "my_tasks").out, HasSubstr("`my_tasks tasks`"));
}

TEST_F(ProgramName, IsInWhatToDoNext) {
  const ProgramOutcome training = run(small_training("run", 2), "my_tasks");
  EXPECT_EQ(training.code, 0) << training.err;
  EXPECT_THAT(training.out,
              AllOf(HasSubstr("my_tasks eval run"), HasSubstr("my_tasks train function --resume --out run")));
  EXPECT_THAT(read_file(at("run") / "config.toml"), HasSubstr("`my_tasks train function --config FILE`"));
  EXPECT_THAT(run(small_training("other", 2)).out, HasSubstr("cgpo train function --resume --out other"));
}

}  // namespace
}  // namespace cgpo
