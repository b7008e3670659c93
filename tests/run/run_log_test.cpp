#include "cgpo/run/run_log.hpp"

#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/file.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

LogEntry full_entry() {
  LogEntry entry;
  entry.seconds = 1.25;
  IterationReport& report = entry.report;
  report.iteration = 4;
  report.steps = 5'000'000'000;
  report.return_mean = 0.1;
  report.return_se = std::numeric_limits<double>::quiet_NaN();
  report.return_paper = -3.0;
  report.costs = {1.0, std::numeric_limits<double>::infinity()};
  report.costs_se = {0.5, 0.25};
  report.limits = {2.0, std::numeric_limits<double>::infinity()};
  report.episode_length = 99.5;
  report.diverged = 2;
  report.update_case = "constrained";
  report.radius = 1e-3;
  report.rho = 0.9;
  report.zeta = std::numeric_limits<double>::infinity();
  report.lambda = 1.0 / 3.0;
  report.nu = {0.0, 2.0};
  report.gradient_norms = {1.0, 2.0, 3.0};
  report.critic_losses = {4.0, 5.0, 6.0};
  report.costs_low = {0.5, 1.0};
  report.costs_high = {1.5, 3.0};
  report.violation_rates = {0.0, 0.25};
  report.contact_share = 0.5;
  report.change_predicted = {1.0, -2.0, std::numeric_limits<double>::quiet_NaN()};
  report.change_realised = {0.5, -1.0, 0.25};
  report.change_se = {0.125, 0.25, 0.5};
  report.gradient_errors = {0.1, 0.2, 0.3};
  report.critic_cosines = {0.75, -0.5, 0.0};
  return entry;
}

std::string line_of(int iteration) {
  LogEntry entry = full_entry();
  entry.report.iteration = iteration;
  return to_json(entry).dump() + "\n";
}

TEST(RunLog, LineHasThePromisedFieldsAndNoNan) {
  const Json line = Json::parse(to_json(full_entry()).dump());
  std::vector<std::string> names;
  for (const auto& [name, value] : line.items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"iteration",
                                             "steps",
                                             "seconds",
                                             "return",
                                             "return_se",
                                             "return_paper",
                                             "costs",
                                             "costs_se",
                                             "limits",
                                             "episodes",
                                             "costs_low",
                                             "costs_high",
                                             "violation_rates",
                                             "episode_length",
                                             "contact_share",
                                             "diverged",
                                             "case",
                                             "radius",
                                             "rho",
                                             "zeta",
                                             "change_predicted",
                                             "change_realised",
                                             "change_se",
                                             "lambda",
                                             "nu",
                                             "gradient_norms",
                                             "gradient_errors",
                                             "critic_losses",
                                             "critic_cosines"}));
  EXPECT_TRUE(line.at("return_se").is_null());
  EXPECT_TRUE(line.at("costs").at(1).is_null());
  EXPECT_TRUE(line.at("zeta").is_null());
}

TEST(RunLog, LeavesOutWhatTheAlgorithmLacks) {
  LogEntry entry;
  entry.report.costs = {1.0};
  const Json line = to_json(entry);
  for (const char* name : {"case", "radius", "rho", "zeta", "lambda", "nu", "gradient_norms", "critic_losses",
                           "warning", "costs_low", "costs_high", "violation_rates", "contact_share", "change_predicted",
                           "change_realised", "change_se", "gradient_errors", "critic_cosines"}) {
    EXPECT_FALSE(line.contains(name)) << name;
  }
}

TEST(RunLog, ReadsItsOwnLines) {
  const std::string text = to_json(full_entry()).dump();
  EXPECT_EQ(to_json(from_json(Json::parse(text))).dump(), text);
}

// A log from before the fields that explain it.
TEST(RunLog, ReadsOldLines) {
  const LogEntry entry = from_json(
      Json::parse(R"({"iteration":3,"steps":40,"seconds":0.5,"return":1,"return_se":0.1,"return_paper":1,"costs":[2],)"
                  R"("costs_se":[0.2],"limits":[null],"episode_length":7,"diverged":0,"case":"free","radius":0.001})"));
  EXPECT_EQ(entry.report.iteration, 3);
  EXPECT_TRUE(entry.report.change_predicted.empty());
  EXPECT_FALSE(entry.report.contact_share.has_value());
  EXPECT_EQ(entry.report.episodes, 0);
  EXPECT_TRUE(entry.report.costs_deployed.empty() && entry.report.costs_filtered.empty());
  EXPECT_FALSE(entry.report.noise.has_value() || entry.report.return_deployed.has_value());
  EXPECT_TRUE(is_deployable(entry.report));  // as far as it is known
}

// What version 0.1.0 wrote when every episode diverged, and with one environment.
TEST(RunLog, ZerosThatOlderVersionsWroteForWhatNobodyKnew) {
  const Json line =
      Json::parse(R"({"iteration":0,"steps":40,"seconds":0.5,"return":0.0,"return_se":0.0,"return_paper":0.0,)"
                  R"("costs":[0.0],"costs_se":[0.0],"limits":[400.0],"episode_length":0.0,"diverged":8,)"
                  R"("case":"refused"})");
  for (const int environments : {0, 8}) {
    const IterationReport report = from_json(line, environments).report;
    EXPECT_EQ(report.episodes, environments);
    EXPECT_FALSE(is_feasible(report));
    for (const double value : {report.return_mean, report.return_se, report.return_paper, report.costs[0],
                               report.costs_se[0], report.episode_length}) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
  Json single = line;
  single["episode_length"] = 5.0;
  single["diverged"] = 0;
  EXPECT_EQ(from_json(single, 1).report.return_mean, 0.0);
  EXPECT_TRUE(std::isnan(from_json(single, 1).report.return_se));
  EXPECT_TRUE(std::isnan(from_json(single, 1).report.costs_se[0]));
  EXPECT_EQ(from_json(single, 2).report.return_se, 0.0);
}

TEST(RunLog, ReadsAllWholeLines) {
  const ScratchFolder folder;
  EXPECT_TRUE(read_log(folder / "none.jsonl").empty());
  const std::string line = line_of(4);
  write_file_atomically(folder / "log.jsonl", line + line_of(5) + line.substr(0, 40));
  EXPECT_EQ(read_log(folder / "log.jsonl").size(), 2U);
}

// One field of another kind than it is written.
TEST(RunLog, StringsForNumbersAndTheLikeAreDamage) {
  const std::string good = line_of(0);
  ASSERT_TRUE(parse_log_line(good));
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, Json>>{{"iteration", "0"},
                                                                                       {"iteration", 0.5},
                                                                                       {"iteration", 1e300},
                                                                                       {"iteration", 4'000'000'000},
                                                                                       {"steps", "many"},
                                                                                       {"seconds", "1.5"},
                                                                                       {"return", "2"},
                                                                                       {"return", Json::array()},
                                                                                       {"costs", 1.0},
                                                                                       {"costs", {"1"}},
                                                                                       {"case", 3},
                                                                                       {"radius", true}}) {
    Json line = Json::parse(good);
    line[name] = value;
    EXPECT_FALSE(parse_log_line(line.dump())) << line.dump();
  }
  for (const std::string text : {"", "[]", "3", "\"iteration\"", "{}", "null", "{\"iteration\":0"}) {
    EXPECT_FALSE(parse_log_line(text)) << text;
  }
  EXPECT_FALSE(parse_log_line("{\"iteration\":" + std::string(1'000'000, '[')));
}

TEST(RunLog, DamagedLinesAreLeftOut) {
  const ScratchFolder folder;
  Json strange = Json::parse(line_of(1));
  strange["return"] = "2";
  write_file_atomically(folder / "log.jsonl",
                        line_of(0) + strange.dump() + "\n" + line_of(2) + line_of(1) + line_of(4));
  std::vector<int> iterations;
  for (const LogEntry& entry : read_log(folder / "log.jsonl")) iterations.push_back(entry.report.iteration);
  EXPECT_EQ(iterations, (std::vector<int>{0, 2, 4}));
}

class CutLines : public ::testing::Test {
 protected:
  void write(const std::string& text) { write_file_atomically(path_, text); }
  ScratchFolder folder_;
  const std::filesystem::path path_ = folder_ / "log.jsonl";
  const std::string line_[3] = {"{\"iteration\":0}\n", "{\"iteration\":1}\n", "{\"iteration\":2}\n"};
};

TEST_F(CutLines, DropsIterationsThatAreNotInTheCheckpoint) {
  write(line_[0] + line_[1] + line_[2]);
  EXPECT_EQ(cut_lines(path_, 2, LineKind::kTiming).count, 2);
  EXPECT_EQ(read_file(path_), line_[0] + line_[1]);
  EXPECT_EQ(cut_lines(path_, 0, LineKind::kTiming).count, 0);
  EXPECT_EQ(read_file(path_), "");
}

TEST_F(CutLines, DropsATornLine) {
  for (const std::string torn : {"{\"iter", "{\"iteration\":2", "{\"iteration\":2}", "\0\0\0\n"}) {
    write(line_[0] + line_[1] + torn);
    EXPECT_EQ(cut_lines(path_, 3, LineKind::kTiming).count, 2) << torn;
    EXPECT_EQ(read_file(path_), line_[0] + line_[1]) << torn;
  }
}

TEST_F(CutLines, TouchesNothingWhenNothingIsToCut) {
  write(line_[0] + line_[1]);
  const auto before = std::filesystem::last_write_time(path_);
  const KeptLines kept = cut_lines(path_, 2, LineKind::kTiming);
  EXPECT_EQ(kept.last->at("iteration"), 1);
  EXPECT_EQ(std::filesystem::last_write_time(path_), before);
}

// What follows a damaged line is kept, and the file as it was, too.
TEST_F(CutLines, ADamagedLineIsAGapAndNoEnd) {
  for (const std::string damage : {"{\"iteration\":\"1\"}\n", "{\"iterat\n", "\n", "[[[[\n", "{\"iteration\":-1}\n"}) {
    write(line_[0] + damage + line_[2] + "{\"iteration\":3}\n");
    const KeptLines kept = cut_lines(path_, 3, LineKind::kTiming);
    EXPECT_EQ(kept.count, 2) << damage;
    EXPECT_TRUE(kept.damaged) << damage;
    EXPECT_EQ(read_file(path_), line_[0] + line_[2]) << damage;
    EXPECT_EQ(read_file(folder_ / "log.jsonl.damaged-1"), line_[0] + damage + line_[2] + "{\"iteration\":3}\n");
    std::filesystem::remove(folder_ / "log.jsonl.damaged-1");
  }
  EXPECT_FALSE(cut_lines(path_, 1, LineKind::kTiming).damaged);
  EXPECT_EQ(read_file(path_), line_[0]);
  EXPECT_TRUE(find_lines(folder_ / "none", 1, LineKind::kLog).damaged);
  EXPECT_FALSE(find_lines(folder_ / "none", 0, LineKind::kLog).damaged);
}

TEST(LineFile, AppendsAfterWhatIsThere) {
  const ScratchFolder folder;
  for (int i = 0; i < 2; ++i) LineFile(folder / "x").append(Json{{"i", i}});
  EXPECT_EQ(read_file(folder / "x"), "{\"i\":0}\n{\"i\":1}\n");
}

}  // namespace
}  // namespace cgpo
