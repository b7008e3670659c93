// More than the machine has: one sentence, exit code 2, and the disk is as it was.
#include <algorithm>
#include <gmock/gmock.h>

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;

// A sanitizer maps terabytes of its own. gcc tells of it in one way, clang in another.
#if defined(__has_feature)
#define CGPO_HAS_FEATURE(name) __has_feature(name)
#else
#define CGPO_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CGPO_HAS_FEATURE(address_sanitizer) || CGPO_HAS_FEATURE(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Limits : public ProgramTest {};

// This one was a heap overflow: 2^32 columns are none in 32 bits.
TEST_F(Limits, SizesBeyond32Bits) {
  expect_refused({"train", "function", "--set", "environments=8192", "kernel.block=8192", "horizon=524288"},
                 {"environments (8192) times horizon + 1 (524289) must not be above 2147483647"});
  expect_refused({"train", "function", "--set", "environments=1048576", "horizon=1000000"}, {"environments (1048576)"});
}

TEST_F(Limits, MoreThanThereIsMemory) {
  ASSERT_EQ(run(small_training("run", 1)).code, 0);
  // A hundred terabytes: a vector as long as a critic has weights, for every block of one environment.
  const std::vector<std::string> huge = {"--set", "environments=1048576", "horizon=2000", "kernel.block=1",
                                         "critic.hidden=[4096, 4096]"};
  std::vector<std::string> arguments = {"train", "function", "--out", "new"};
  arguments.insert(arguments.end(), huge.begin(), huge.end());
  expect_refused(arguments, {"this run needs about", "TiB", "lower environments", "raise kernel.block"});
  arguments.emplace_back("--dry-run");
  expect_refused(arguments, {"this run needs about"});
  arguments = {"train", "function", "--out", "run", "--force"};  // and the run that is there stays
  arguments.insert(arguments.end(), huge.begin(), huge.end());
  expect_refused(arguments, {"this run needs about"});
  for (const std::string algorithm : {"ppo", "mb-cgpo", "shac-lag"}) {
    arguments = {"train", "cartpole", "--out", "new", "--algo", algorithm};
    arguments.insert(arguments.end(), huge.begin(), huge.end());
    expect_refused(arguments, {"this run needs about"});
  }
}

TEST_F(Limits, ADryRunSaysWhatARunTakesAndWritesNothing) {
  const auto before = snapshot();
  const ProgramOutcome words = run(small_training("run", 7, {"--dry-run"}));
  EXPECT_EQ(words.code, 0) << words.err;
  for (const char* const word : {"memory  about", "MiB", "episodes", "time    about", "7 iterations", "nothing was"})
    EXPECT_THAT(words.out, HasSubstr(word));
  const ProgramOutcome numbers = run(small_training("run", 7, {"--dry-run", "--json"}));
  const auto json = nlohmann::json::parse(numbers.out);
  EXPECT_GT(json.at("memory").get<double>(), 1e6);
  EXPECT_GT(json.at("seconds_per_iteration").get<double>(), 0.0);
  EXPECT_EQ(json.at("iterations"), 7);
  double sum = 0.0;
  for (const auto& part : json.at("memory_parts")) sum += part.get<double>();
  EXPECT_EQ(sum, json.at("memory").get<double>());
  EXPECT_EQ(snapshot(), before);
}

TEST_F(Limits, ABoundOnTheAddressSpace) {
  if (kSanitized) GTEST_SKIP();
  ASSERT_EQ(run(small_training("run", 1)).code, 0);
  limit_memory(std::size_t{512} << 20);
  EXPECT_EQ(run(small_training("fits", 1, {"--threads", "2"})).code, 0);
  expect_refused({"train", "cartpole", "--out", "new", "--threads", "2", "--set", "environments=4096"},
                 {"this run needs about", "left of the limit of `ulimit -v`", "lower environments or horizon"});
  expect_refused({"eval", "run", "--episodes", "100000000", "--threads", "2"},
                 {"an evaluation of 100000000 episodes needs about", "lower --episodes"});
  expect_refused(small_training("new", 1, {"--threads", "1024"}), {"threads", "use fewer: --threads"});
}

// However little there is: the program ends well, or says in a sentence that it is too little.
TEST_F(Limits, AnyBoundEndsWellOrInASentence) {
  if (kSanitized) GTEST_SKIP();
  int refused = 0;
  bool done = false;
  for (std::size_t mebibytes = 16; !done && mebibytes < 2048; mebibytes += 8) {
    limit_memory(mebibytes << 20);
    if (run({"--version"}).code != 0) continue;  // the system does not even load it
    const ProgramOutcome outcome = run(small_training("run", 1, {"--force", "--threads", "2"}));
    done = outcome.code == 0;
    if (done) continue;
    ++refused;
    EXPECT_EQ(outcome.code, 2) << mebibytes << " MiB: " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::AnyOf(HasSubstr("memory"), HasSubstr("threads"))) << mebibytes;
  }
  EXPECT_TRUE(done);
  EXPECT_GT(refused, 1);
}

}  // namespace
}  // namespace cgpo
