// `report`, `replay` and `train --live` as commands; what their pages do is tested in a browser (tests/page).
#include <filesystem>
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class Pages : public ProgramTest {};

TEST_F(Pages, ReportIsOneFileAndSaysWhere) {
  ASSERT_EQ(run(small_training("run", 4)).code, 0);
  const ProgramOutcome plain = run({"report", "run", "--episodes", "16"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_THAT(plain.out, HasSubstr("report  run/report.html"));
  const ProgramOutcome outcome = run({"report", "run", "--episodes", "16", "--out", "page.html", "--json"});
  const Json told = Json::parse(outcome.out);
  EXPECT_EQ(told.at("out"), "page.html");
  EXPECT_EQ(told.at("task"), "function");
  EXPECT_EQ(told.at("bytes"), fs::file_size(at("page.html")));
  EXPECT_EQ(told.at("runs").at(0).at("evaluation").at("episodes"), 16);
  EXPECT_LT(fs::file_size(at("page.html")), 3U << 20);
  EXPECT_THAT(read_file(at("page.html")), HasSubstr("cgpo report run --episodes 16 --out page.html --json"));
}

TEST_F(Pages, SameRunSamePage) {
  ASSERT_EQ(run(small_training("run", 3)).code, 0);
  ASSERT_EQ(run({"replay", "run", "--threads", "1", "--json"}).code, 0);
  const Json one = Json::parse(run({"replay", "run", "--threads", "1", "--json"}).out);
  const Json two = Json::parse(run({"replay", "run", "--threads", "2", "--json"}).out);
  EXPECT_EQ(one, two);
  EXPECT_EQ(one.at("policies").size(), 4U);  // after 0, 1, 2 and 3 iterations
}

TEST_F(Pages, AComparisonStandsForItsRuns) {
  ASSERT_EQ(run(small_training("all/a-0", 2)).code, 0);
  ASSERT_EQ(run(small_training("all/a-1", 2, {"--seed", "1"})).code, 0);
  write_file_atomically(at("all/comparison.json"), "{}");
  write_file_atomically(at("all/a-0.out"), "");
  const Json told = Json::parse(run({"report", "all", "--episodes", "0", "--json"}).out);
  EXPECT_EQ(told.at("runs").size(), 2U);
  EXPECT_EQ(told.at("groups").at(0).at("runs"), Json({0, 1}));
}

TEST_F(Pages, BadInputIsRefused) {
  ASSERT_EQ(run(small_training("run", 2)).code, 0);
  ASSERT_EQ(run({"train", "cartpole", "--out", "cart", "--set", "iterations=1", "environments=4", "horizon=10"}).code,
            0);
  fs::create_directory(at("empty"));
  expect_refused({"report"}, {"report needs the folder of a run"});
  expect_refused({"report", "nowhere"}, {"no run 'nowhere'"});
  expect_refused({"report", "empty"}, {"'empty' is not a run"});
  expect_refused({"report", "run", "cart"}, {"function", "cartpole", "one task"});
  expect_refused({"report", "run", "./run"}, {"named twice"});
  expect_refused({"report", "run", "--episodes", "-1"}, {"--episodes"});
  expect_refused({"report", "run", "--episode", "3"}, {"did you mean '--episodes'"});
  expect_refused({"replay"}, {"replay needs the folder"});
  expect_refused({"replay", "empty"}, {"'empty' is not a run"});
  expect_refused({"replay", "run", "--video", "film.avi"}, {".webp", "'film.avi'"});
  expect_refused({"replay", "run", "--video", "film.webp", "--size", "big"}, {"--size", "'big'"});
  expect_refused({"replay", "run", "--video", "film.webp", "--show", "first"}, {"start, middle, end", "'first'"});
  expect_refused({"replay", "run", "--video", "film.webp", "--theme", "pink"}, {"light or dark"});
  expect_refused({"replay", "run", "--seconds", "nan"}, {"--seconds"});
  expect_refused({"replay", "run", "--frames", "run"}, {"not empty"});
  expect_refused({"train", "function", "--out", "new", "--port", "1"}, {"--port", "--live"});
  expect_refused({"train", "function", "--out", "new", "--live", "--port", "70000"}, {"--port", "65535"});
}

TEST_F(Pages, ReplayOfABrokenPolicyIsRefused) {
  ASSERT_EQ(run(small_training("run", 2)).code, 0);
  const std::string good = read_file(at("run/snapshots/000002.safetensors"));
  write_file_atomically(at("run/snapshots/000002.safetensors"), good.substr(0, good.size() / 2));
  expect_refused({"replay", "run"}, {"000002.safetensors"});
}

// In a page a broken policy is a sentence: the curves are still worth seeing.
TEST_F(Pages, ReportOfABrokenPolicyHasItsCurves) {
  ASSERT_EQ(run(small_training("run", 2)).code, 0);
  write_file_atomically(at("run/checkpoint.safetensors"), "x");
  const ProgramOutcome outcome = run({"report", "run", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(Json::parse(outcome.out).at("runs").at(0).at("evaluation").contains("problem"));
}

TEST_F(Pages, TrainingIsTheSameUnderALiveView) {
  ASSERT_EQ(run(small_training("plain", 5)).code, 0);
  const ProgramOutcome live = run(small_training("live", 5, {"--live", "--port", "0"}));
  EXPECT_EQ(live.code, 0) << live.err;
  EXPECT_THAT(live.out, HasSubstr("live: http://127.0.0.1:"));
  expect_same_run("plain", "live");
}

}  // namespace
}  // namespace cgpo
