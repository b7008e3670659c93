// What the commands say of policies that diverge, and of too few episodes: never that a limit holds.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <sstream>

#include "cgpo/base/file.hpp"
#include "cgpo/base/tensors.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// Time steps of a second: every episode diverges at once.
const std::vector<std::string> kDiverging = {"--set", "task.dt=1", "--set", "iterations=2", "--set", "environments=8"};

class Verdicts : public ProgramTest {
 protected:
  ProgramOutcome with_diverging(std::vector<std::string> words) const {
    words.insert(words.end(), kDiverging.begin(), kDiverging.end());
    return run(words);
  }
};

TEST_F(Verdicts, TrainingThatDivergesIsNoSuccess) {
  const ProgramOutcome trained = with_diverging({"train", "halfcheetah", "--out", "run"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out,
              AllOf(HasSubstr("not feasible: 8 of 8 episodes diverged"), HasSubstr("eval run --explain"),
                    Not(HasSubstr("holds")), Not(HasSubstr("±")), Not(HasSubstr("<=")), Not(HasSubstr("nan"))));
  EXPECT_FALSE(std::filesystem::exists(at("run/best.safetensors")));
  std::istringstream log(read_file(at("run/log.jsonl")));
  for (std::string line; std::getline(log, line);) {
    const Json entry = Json::parse(line);
    for (const char* name : {"return", "return_se", "return_paper", "episode_length"}) {
      EXPECT_TRUE(entry.at(name).is_null()) << name;
    }
    EXPECT_TRUE(entry.at("costs").at(0).is_null() && entry.at("costs_se").at(0).is_null());
    EXPECT_EQ(entry.at("diverged"), 8);
  }
  // A finished run that is asked for again says the same.
  EXPECT_THAT(run({"train", "halfcheetah", "--resume", "--out", "run"}).out, HasSubstr("8 of 8 episodes diverged"));
  const Json summary = Json::parse(run({"train", "halfcheetah", "--resume", "--out", "run", "--json"}).out);
  EXPECT_EQ(summary.at("feasible"), false);
  EXPECT_TRUE(summary.at("return").is_null());

  const ProgramOutcome evaluated = run({"eval", "run", "--episodes", "16", "--explain"});
  EXPECT_THAT(evaluated.out, AllOf(HasSubstr("not feasible: 16 of 16 episodes diverged"), HasSubstr("smaller physics"),
                                   Not(HasSubstr("nan")), Not(HasSubstr("confidence"))));
  const Json report = Json::parse(run({"eval", "run", "--episodes", "16", "--json"}).out);
  EXPECT_EQ(report.at("feasible"), false);
  EXPECT_EQ(report.at("verdict"), "diverged");
  EXPECT_EQ(report.at("costs").at(0).at("verdict"), "diverged");

  EXPECT_EQ(run({"report", "run", "--episodes", "16", "--out", "page.html"}).code, 0);
  EXPECT_THAT(read_file(at("page.html")), AllOf(HasSubstr(R"("sentence":"not feasible: 16 of 16 episodes diverged")"),
                                                HasSubstr(R"("diverged":["8 of 8 episodes diverged",)")));
}

TEST_F(Verdicts, ComparisonsAlsoOfOlderLogs) {
  const std::vector<std::string> words = {"compare", "halfcheetah", "--algos", "cgpo", "--seeds", "1", "--out", "all"};
  const auto expect_diverged = [](const ProgramOutcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("| cgpo | 1 | diverged | diverged | 0 of 1 | did not converge | did not "
                                             "converge | 100.0 % | 100.0 % |"),
                                   HasSubstr("in 2 of 2 iterations, in the last one 8 of 8 episodes diverged")));
  };
  const ProgramOutcome first = with_diverging(words);
  expect_diverged(first);
  EXPECT_THAT(first.err, AllOf(HasSubstr("cost unknown ? 400"), HasSubstr("8 of 8 episodes diverged"),
                               HasSubstr("so there are no curves")));

  std::istringstream log(read_file(at("all/cgpo-0/log.jsonl")));
  std::string old;
  for (std::string line; std::getline(log, line);) {
    Json entry = Json::parse(line);
    for (const char* name : {"return", "return_se", "return_paper", "episode_length"}) entry[name] = 0.0;
    entry["costs"] = entry["costs_se"] = {0.0};
    old += entry.dump() + "\n";
  }
  write_file_atomically(at("all/cgpo-0/log.jsonl"), old);
  expect_diverged(with_diverging(words));
}

TEST_F(Verdicts, OneEnvironmentHasNoStandardErrorAndSaysSo) {
  const ProgramOutcome trained = run(small_training("run", 3, {"--set", "environments=1"}));
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("one environment has no standard error"));
  EXPECT_THAT(trained.out, AllOf(HasSubstr("in one episode"), Not(HasSubstr("±")), Not(HasSubstr("holds"))));
  EXPECT_THAT(run({"eval", "run", "--episodes", "1"}).out,
              AllOf(HasSubstr("cannot be judged: one episode has no standard error"), Not(HasSubstr("±"))));
  EXPECT_EQ(Json::parse(run({"eval", "run", "--episodes", "1", "--json"}).out).at("feasible"), false);
}

TEST_F(Verdicts, PoliciesThatAreNotFiniteAreRefused) {
  ASSERT_EQ(run(small_training("run", 2)).code, 0);
  Tensors checkpoint = read_tensors(at("run/checkpoint.safetensors"));
  std::vector<float> weights(checkpoint.entries.at("policy.layer0.bias").bytes.size() / sizeof(float), NAN);
  checkpoint.put("policy.layer0.bias", std::span<const float>(weights));
  write_tensors(at("run/checkpoint.safetensors"), checkpoint);
  const std::vector<std::string> words = {"checkpoint.safetensors", "policy.layer0.bias", "not finite"};
  expect_refused({"train", "function", "--resume", "--out", "run", "--set", "iterations=4"}, words);
  expect_refused({"eval", "run", "--episodes", "8"}, words);
}

}  // namespace
}  // namespace cgpo
