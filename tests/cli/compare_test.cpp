// `cgpo compare`: its numbers are those of the logs, and nothing that happens to a run is lost on the others.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <stdlib.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::vector<std::string> kRuns = {"cgpo-0", "cgpo-1", "cgpo@paper-0", "cgpo@paper-1"};

class Compare : public ProgramTest {
 protected:
  // Two variants, two seeds, milliseconds an iteration.
  std::vector<std::string> comparison(int iterations, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"compare", "function", "--algos", "cgpo,cgpo@paper",
                                          "--seeds", "2",        "--out",   "all"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::vector<std::string> training = small_training("", iterations);
    arguments.insert(arguments.end(), training.begin() + 4, training.end());  // --set …
    return arguments;
  }

  std::vector<Json> log_of(const std::string& run) const {
    std::istringstream text(read_file(at(run) / "log.jsonl"));
    std::vector<Json> lines;
    for (std::string line; std::getline(text, line) && !text.eof();) lines.push_back(Json::parse(line));
    return lines;
  }

  std::vector<std::vector<std::string>> csv_of(const std::string& name) const {
    std::istringstream text(read_file(at(name)));
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(text, line);) {
      std::istringstream cells(line);
      rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
    }
    return rows;
  }
};

TEST_F(Compare, TableAndCurvesAreThoseOfTheLogs) {
  const ProgramOutcome outcome = run(comparison(10, {"--jobs", "2"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, read_file(at("all/table.md")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("| cgpo | 2 |"), HasSubstr("| cgpo@paper | 2 |"), HasSubstr("height ≤ 1.9"),
                                 HasSubstr("window = 10 % of the iterations"), HasSubstr("window 5 %"),
                                 HasSubstr("margin 2 %"), Not(HasSubstr("Not finished"))));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("4 runs in all: 0 done already"), HasSubstr("cgpo@paper-1: 10 iterations")));

  const Json table = Json::parse(read_file(at("all/table.json")));
  for (const std::string name : {"cgpo", "cgpo@paper"}) {
    const auto zero = log_of("all/" + name + "-0");
    const auto one = log_of("all/" + name + "-1");
    const auto rows = csv_of("all/curve-" + name + ".csv");
    ASSERT_EQ(rows.size(), 11U);
    EXPECT_EQ(rows[0],
              (std::vector<std::string>{"iteration", "seeds", "steps", "seconds", "return_mean", "return_low",
                                        "return_high", "height_mean", "height_low", "height_high", "height_limit"}));
    for (std::size_t k = 0; k < 10; ++k) {
      const auto mean = [&](double a, double b) { return (a + b) / 2.0; };
      const auto expect_band = [&](double a, double b, std::size_t column) {
        const double half = 12.7062 * std::abs(a - b) / 2.0;  // two seeds: t's quantile × |a − b| / 2
        const double middle = mean(a, b);
        EXPECT_NEAR(std::stod(rows[k + 1][column]), middle, 1e-12);
        EXPECT_NEAR(std::stod(rows[k + 1][column + 1]), middle - half, 1e-9);
        EXPECT_NEAR(std::stod(rows[k + 1][column + 2]), middle + half, 1e-9);
      };
      EXPECT_EQ(rows[k + 1][0], std::to_string(k));
      EXPECT_EQ(rows[k + 1][1], "2");
      EXPECT_NEAR(std::stod(rows[k + 1][2]), mean(zero[k]["steps"], one[k]["steps"]), 1e-9);
      EXPECT_NEAR(std::stod(rows[k + 1][3]), mean(zero[k]["seconds"], one[k]["seconds"]), 1e-9);
      expect_band(zero[k]["return"], one[k]["return"], 4);
      expect_band(zero[k]["costs"][0], one[k]["costs"][0], 7);
      EXPECT_EQ(rows[k + 1][10], "1.9");
    }
    const Json& entry = table["algorithms"][name == "cgpo" ? 0 : 1];
    EXPECT_EQ(entry["name"], name);
    EXPECT_NEAR(entry["return"]["mean"].get<double>(),
                (zero[9]["return"].get<double>() + one[9]["return"].get<double>()) / 2.0, 1e-12);
    // The whole-run ratio by hand: limit 1.9, margin 0.019.
    double over = 0.0;
    for (const Json& line : zero) over += line["costs"][0].get<double>() > 1.919 ? 1.0 : 0.0;
    EXPECT_DOUBLE_EQ(entry["runs"][0]["violations_whole"].get<double>(), over / 10.0);
    // A point a seed: where it converged, or its last step, and that ratio.
    const auto points = csv_of("all/pareto-" + name + ".csv");
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[0], (std::vector<std::string>{"seed", "converged", "steps", "over"}));
    EXPECT_EQ(points[1][0], "0");
    const Json& converged = entry["runs"][0]["convergence_strict"];
    EXPECT_EQ(points[1][1], converged.is_null() ? "0" : "1");
    EXPECT_EQ(std::stod(points[1][2]), converged.is_null() ? zero[9]["steps"].get<double>() : converged.get<double>());
    EXPECT_DOUBLE_EQ(std::stod(points[1][3]), over / 10.0);
  }
  if (std::system("command -v gnuplot > /dev/null") == 0) {
    EXPECT_THAT(read_file(at("all/curves.svg")),
                AllOf(HasSubstr("<svg"), HasSubstr("cgpo@paper"), HasSubstr("limit 1.9")));
    EXPECT_THAT(outcome.out, HasSubstr("curves.svg"));
    EXPECT_FALSE(fs::exists(at("all/curves.gnuplot.out")));
    EXPECT_THAT(read_file(at("all/pareto.svg")), AllOf(HasSubstr("<svg"), HasSubstr("cgpo@paper")));
    EXPECT_THAT(outcome.out, HasSubstr("(pareto.svg)"));
  }

  // The same again trains nothing and says the same.
  const auto times = snapshot();
  const ProgramOutcome again = run(comparison(10, {"--jobs", "2"}));
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, outcome.out);
  EXPECT_THAT(again.err, HasSubstr("4 done already, 0 to do"));
  for (const auto& [name, content] : snapshot()) {
    if (name.find("cgpo") != std::string::npos && name.find("curve") == std::string::npos &&
        name.find("pareto") == std::string::npos) {
      EXPECT_EQ(times.at(name), content) << name;
    }
  }
  const ProgramOutcome json = run(comparison(10, {"--json"}));
  EXPECT_EQ(std::count(json.out.begin(), json.out.end(), '\n'), 1);
  EXPECT_EQ(Json::parse(json.out)["algorithms"][1]["preset"], "paper");
}

TEST_F(Compare, WhatIsMissingOrDamagedIsDoneAgainWithTheSameBits) {
  ASSERT_EQ(run(comparison(6)).code, 0);
  fs::copy(at("all"), at("kept"), fs::copy_options::recursive);
  fs::remove_all(at("all/cgpo-0"));
  const std::string log = read_file(at("all/cgpo-1/log.jsonl"));
  write_file_atomically(at("all/cgpo-1/log.jsonl"), log.substr(0, log.size() / 2));
  const std::string checkpoint = read_file(at("all/cgpo@paper-0/checkpoint.safetensors"));
  write_file_atomically(at("all/cgpo@paper-0/checkpoint.safetensors"), checkpoint.substr(0, checkpoint.size() / 2));
  // Died before its first checkpoint.
  write_file_atomically(at("all/cgpo@paper-1/log.jsonl"), "");
  fs::remove(at("all/cgpo@paper-1/checkpoint.safetensors"));

  const ProgramOutcome outcome = run(comparison(6));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("0 done already, 4 to do"), HasSubstr("cgpo-1 cannot be continued: its log"),
                                 HasSubstr("cgpo@paper-0 cannot be continued")));
  for (const std::string& name : kRuns) expect_same_run("all/" + name, "kept/" + name);
  EXPECT_EQ(read_file(at("all/cgpo-1.damaged-1/log.jsonl")), log.substr(0, log.size() / 2));
}

TEST_F(Compare, MoreIterationsContinueEveryRun) {
  ASSERT_EQ(run(comparison(3)).code, 0);
  ASSERT_EQ(run(comparison(6)).code, 0);
  ASSERT_EQ(run(small_training("whole", 6, {"--seed", "1"})).code, 0);
  expect_same_run("all/cgpo-1", "whole");
}

TEST_F(Compare, EntryMayHaveSettingsOfItsOwn) {
  std::vector<std::string> arguments = comparison(3, {"--json"});
  arguments[3] = "cgpo,cgpo:radius.test=fixed:critic.steps=2";
  const ProgramOutcome outcome = run(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["algorithms"][1]["name"], arguments[3].substr(5));
  const std::string config = read_file(at("all/cgpo:radius.test=fixed:critic.steps=2-1/config.toml"));
  EXPECT_THAT(config, AllOf(HasSubstr("test = \"fixed\""), HasSubstr("steps = 2 ")));
  EXPECT_THAT(read_file(at("all/cgpo-1/config.toml")), HasSubstr("steps = 4 "));
  EXPECT_THAT(run(arguments).err, HasSubstr("4 done already"));
}

TEST_F(Compare, EvaluatesEachRunOnceAndAsEvalDoes) {
  const auto arguments = [&](int iterations) {
    return comparison(iterations, {"--first-seed", "1000", "--evaluate", "64", "--json"});
  };
  const ProgramOutcome outcome = run(arguments(3));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json table = Json::parse(outcome.out);
  for (const Json& algorithm : table["algorithms"]) {
    std::vector<Json> found;
    for (const int seed : {1000, 1001}) {
      const std::string name = algorithm["name"].get<std::string>() + "-" + std::to_string(seed);
      EXPECT_EQ(algorithm["runs"][found.size()]["seed"], seed);
      found.push_back(Json::parse(run({"eval", "all/" + name, "--episodes", "64", "--json"}).out));
      const Json& own = algorithm["runs"][found.size() - 1]["evaluation"];
      for (const auto& [key, value] : own.items()) EXPECT_EQ(value, found.back()[key]) << name << " " << key;
      EXPECT_EQ(own["episodes"], 64);
    }
    const auto numbers = [&](const std::string& pointer) {
      return std::vector<double>{found[0].at(Json::json_pointer(pointer)), found[1].at(Json::json_pointer(pointer))};
    };
    const std::vector<double> returns = numbers("/return/mean");
    const std::vector<double> costs = numbers("/costs/0/mean");
    const Json& evaluation = algorithm["evaluation"];
    EXPECT_NE(returns[0], returns[1]);
    EXPECT_DOUBLE_EQ(evaluation["return"]["mean"].get<double>(), (returns[0] + returns[1]) / 2.0);
    EXPECT_EQ(evaluation["return"]["worst"].get<double>(), std::min(returns[0], returns[1]));
    EXPECT_EQ(evaluation["costs"][0]["name"], "height");
    EXPECT_DOUBLE_EQ(evaluation["costs"][0]["mean"].get<double>(), (costs[0] + costs[1]) / 2.0);
    EXPECT_EQ(evaluation["costs"][0]["worst"].get<double>(), std::max(costs[0], costs[1]));
    const std::vector<double> deployed = numbers("/deployed/costs/0/mean");
    const std::vector<double> deployed_returns = numbers("/deployed/return/mean");
    EXPECT_NE(deployed, costs);
    EXPECT_DOUBLE_EQ(evaluation["deployed"]["costs"][0]["mean"].get<double>(), (deployed[0] + deployed[1]) / 2.0);
    EXPECT_EQ(evaluation["deployed"]["costs"][0]["worst"].get<double>(), std::max(deployed[0], deployed[1]));
    EXPECT_EQ(evaluation["deployed"]["return"]["worst"].get<double>(),
              std::min(deployed_returns[0], deployed_returns[1]));
    EXPECT_EQ(evaluation["feasible"].get<bool>(), std::max({costs[0], costs[1], deployed[0], deployed[1]}) <= 1.9);
  }
  EXPECT_FALSE(fs::exists(at("all/cgpo-0")));

  // What is kept is what is said, as long as the policy is the same to the bit.
  const fs::path kept = at("all/cgpo-1000/evaluation-64.json");
  Json file = Json::parse(read_file(kept));
  file["report"]["return"]["mean"] = 123.0;
  write_file_atomically(kept, file.dump());
  const auto first = [](const ProgramOutcome& result) {
    return Json::parse(result.out)["algorithms"][0]["runs"][0]["evaluation"]["return"]["mean"].get<double>();
  };
  EXPECT_EQ(first(run(arguments(3))), 123.0);
  fs::remove(at("all/cgpo-1000/checkpoint.safetensors"));
  fs::remove(at("all/cgpo-1000/log.jsonl"));
  EXPECT_EQ(first(run(arguments(3))), 123.0);
  // Versions before this one kept no deployed part; such a one is made again.
  file["report"].erase("deployed");
  write_file_atomically(kept, file.dump());
  EXPECT_NE(first(run(arguments(3))), 123.0);
  const double after = first(run(arguments(4)));
  EXPECT_EQ(after, Json::parse(run({"eval", "all/cgpo-1000", "--episodes", "64", "--json"}).out)["return"]["mean"]);
  EXPECT_NE(after, 123.0);
}

TEST_F(Compare, VariesOneKeyAtATime) {
  std::vector<std::string> arguments =
      comparison(2, {"--json", "--vary", "limits=[1.9], [3.5]", "--vary", "critic.steps=2,4"});
  arguments[3] = "cgpo";
  const ProgramOutcome outcome = run(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // The other two are what all have: limit 1.9 and four steps.
  EXPECT_THAT(outcome.err, HasSubstr("cgpo:critic.steps=4 is left out: it is the same as cgpo:limits=[1.9]"));
  const Json table = Json::parse(outcome.out);
  ASSERT_EQ(table["algorithms"].size(), 3U);
  EXPECT_TRUE(table["costs"][0]["limit"].is_null());
  const std::vector<std::string> labels = {"cgpo:limits=[1.9]", "cgpo:limits=[3.5]", "cgpo:critic.steps=2"};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(table["algorithms"][i]["name"], labels[i]);
    EXPECT_EQ(table["algorithms"][i]["limits"][0], i == 1 ? 3.5 : 1.9);
    EXPECT_EQ(log_of("all/" + labels[i] + "-1").back()["limits"][0], i == 1 ? 3.5 : 1.9);
    EXPECT_THAT(read_file(at("all/" + labels[i] + "-0/config.toml")), HasSubstr(i == 2 ? "steps = 2 " : "steps = 4 "));
  }
  EXPECT_EQ(csv_of("all/curve-cgpo:limits=[3.5].csv")[1].back(), "3.5");
  EXPECT_THAT(run(arguments).err, HasSubstr("6 done already"));
}

TEST_F(Compare, InterruptedOneGoesOn) {
  const pid_t process = start(comparison(100'000, {"--jobs", "2"}));
  wait_for_lines("all/cgpo-0", 3);
  wait_for_lines("all/cgpo@paper-0", 3);
  ::kill(process, SIGINT);
  const ProgramOutcome first = wait(process);
  EXPECT_EQ(first.code, 128 + SIGINT);
  EXPECT_EQ(first.out, "");
  EXPECT_THAT(first.err, HasSubstr("the same command goes on"));
  const int total = static_cast<int>(std::max(log_of("all/cgpo-0").size(), log_of("all/cgpo@paper-0").size())) + 3;
  const ProgramOutcome second = run(comparison(total));
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("cannot be continued")));
  ASSERT_EQ(run(small_training("whole", total)).code, 0);
  expect_same_run("all/cgpo-0", "whole");
}

TEST_F(Compare, RunThatIsKilledIsReportedAndTheNextOneStarts) {
  const pid_t process = start(comparison(100'000));
  wait_for_lines("all/cgpo-0", 3);
  pid_t child = 0;
  std::ifstream("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children") >> child;
  ASSERT_GT(child, 0);
  ::kill(child, SIGKILL);
  wait_for_lines("all/cgpo@paper-0", 3);
  ::kill(process, SIGTERM);
  const ProgramOutcome outcome = wait(process);
  EXPECT_EQ(outcome.code, 128 + SIGTERM);
  EXPECT_THAT(outcome.err, HasSubstr("cgpo-0: failed: was ended by signal 9"));
}

TEST_F(Compare, WhenItIsKilledItsRunsStopWithACheckpoint) {
  const pid_t process = start(comparison(100'000));
  wait_for_lines("all/cgpo-0", 3);
  ::kill(process, SIGKILL);
  wait(process);
  // The run ends its iteration, which takes milliseconds; until then its folder is refused.
  ProgramOutcome outcome;
  int total = 0;
  for (int tries = 0; tries < 500; ++tries) {
    total = static_cast<int>(log_of("all/cgpo-0").size()) + 20;
    outcome = run(comparison(total));
    if (outcome.code != 2) break;
  }
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("cannot be continued")));
  ASSERT_EQ(run(small_training("whole", total)).code, 0);
  expect_same_run("all/cgpo-0", "whole");
}

TEST_F(Compare, FailingRunIsReportedAndTheOthersGoOn) {
  ASSERT_EQ(run(comparison(4)).code, 0);
  fs::remove_all(at("all/cgpo-1"));
  fs::remove_all(at("all/cgpo@paper-0"));
  fs::create_directory(at("all/cgpo-1"));
  write_file_atomically(at("all/cgpo-1/thesis.tex"), "mine");
  const ProgramOutcome outcome = run(comparison(4));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cgpo-1: failed: 'all/cgpo-1' holds other files"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("| cgpo | 1 of 2 |"), HasSubstr("| cgpo@paper | 2 |"),
                                 HasSubstr("- cgpo, seed 1: 'all/cgpo-1' holds other files")));
  EXPECT_EQ(read_file(at("all/cgpo-1/thesis.tex")), "mine");
  EXPECT_EQ(csv_of("all/curve-cgpo.csv")[1][1], "1");
}

TEST_F(Compare, WithoutGnuplotTheNumbersStay) {
  const char* found = ::getenv("PATH");
  const std::string path = found != nullptr ? found : "";
  ASSERT_EQ(::setenv("PATH", "/nowhere", 1), 0);
  const ProgramOutcome outcome = run(comparison(2));
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("gnuplot is not installed"));
  EXPECT_TRUE(fs::exists(at("all/curve-cgpo.csv")));
  EXPECT_FALSE(fs::exists(at("all/curves.svg")));
}

TEST_F(Compare, BadInput) {
  ASSERT_EQ(run(comparison(3)).code, 0);
  ASSERT_EQ(run(small_training("single", 1)).code, 0);
  write_file_atomically(at("file"), "not a folder\n");
  fs::create_directory(at("full"));
  write_file_atomically(at("full/thesis.tex"), "mine");
  const auto compare = [](const std::string& algorithms, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"compare", "function", "--out", "new", "--algos", algorithms};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_refused({"compare", "function"}, {"--algos", "there are: ", "cgpo"});
  expect_refused({"compare", "functoin", "--algos", "cgpo"}, {"unknown task 'functoin'", "did you mean 'function'?"});
  expect_refused({"compare", "function-floor", "--out", "new", "--algos", "mb-cgpo,cgpo"},
                 {"not differentiable", "mb-cgpo"});
  expect_refused({"bench", "function-floor", "--kernels"}, {"task function-floor has none"});
  expect_refused({"bench", "external"}, {"task external has none"});
  expect_refused({"replay", "single", "--fps", "5"}, {"--fps is of a film", "--video"});
  expect_refused(compare("cgpo,cgpoo"), {"unknown algorithm 'cgpoo'", "did you mean 'cgpo'?"});
  expect_refused(compare("cgpo@pper"), {"unknown preset 'pper'", "did you mean 'paper'?"});
  for (const std::string list : {"cgpo,", ",cgpo", "cgpo@", "@paper", "cgpo:", "cgpo:window", "cgpo/x"})
    expect_refused(compare(list), {"NAME@PRESET"});
  expect_refused(compare("cgpo,cgpo"), {"'cgpo'", "twice"});
  expect_refused(compare("cgpo,cgpo@best"), {"'cgpo@best'", "twice"});
  expect_refused(compare("cgpo,cgpo:radius.tset=fixed"), {"radius.tset", "did you mean 'radius.test'?"});
  expect_refused(compare("cgpo,cgpo:limits=[3]"), {"cannot be compared: limits is"});
  for (const std::string vary : {"window", "window=", "=5", "window=5,,6"})
    expect_refused(compare("cgpo", {"--vary", vary}), {"--vary takes KEY=VALUE,VALUE", "'" + vary + "'"});
  expect_refused(compare("cgpo", {"--vary", "window=5,5"}), {"--vary window names 5 twice"});
  expect_refused(compare("cgpo", {"--vary", "window=5", "--vary", "window=6"}), {"--vary names window twice"});
  expect_refused(compare("cgpo", {"--vary", "windw=5,6"}), {"--vary: unknown key 'windw'", "did you mean 'window'?"});
  expect_refused(compare("cgpo", {"--vary", "window=5,0"}), {"--vary: window must be a whole number from 1"});
  expect_refused(compare("cgpo", {"--vary", "limits=[3],[4"}), {"--vary limits: '[4' is not a TOML value"});
  expect_refused(compare("cgpo", {"--vary", "costs=[]"}), {"--vary cannot vary costs"});
  expect_refused(compare("cgpo", {"--vary", "task.file=a/b"}), {"without '/'", "'a/b'"});
  expect_refused(compare("cgpo", {"--first-seed", "-1"}), {"--first-seed must be a whole number from 0"});
  expect_refused(compare("cgpo", {"--evaluate", "0"}), {"--evaluate must be a whole number from 1"});
  expect_refused(compare("cgpo", {"--seeds", "0"}), {"--seeds must be a whole number from 1"});
  expect_refused(compare("cgpo", {"--jobs", "0"}), {"--jobs must be a whole number from 1"});
  expect_refused(compare("cgpo", {"--set", "iterations=0"}), {"iterations must be a whole number from 1"});
  expect_refused({"compare", "function", "--algos", "cgpo", "--out", "single"}, {"'single'", "single run"});
  expect_refused({"compare", "function", "--algos", "cgpo", "--out", "file"}, {"'file' is a file"});
  expect_refused({"compare", "function", "--algos", "cgpo", "--out", "full"}, {"'full' holds other files"});
  expect_refused({"compare", "cartpole", "--algos", "cgpo", "--out", "all"}, {"task 'function', not 'cartpole'"});
  expect_refused(comparison(3, {"--set", "radius.test=fixed"}), {"other settings: radius.test is", "not \"fixed\""});
  expect_refused(comparison(2), {"'all/cgpo-0' has done 3 iterations already", "2"});

  // Whoever writes a run, or the whole folder, is left alone.
  const pid_t train = start({"train", "--out", "all/cgpo-0", "--resume", "--set", "iterations=1000000"});
  wait_for_lines("all/cgpo-0", 5);
  const ProgramOutcome busy = run(comparison(1'000'000));
  EXPECT_EQ(busy.code, 2);
  EXPECT_THAT(busy.err, HasSubstr("another process is writing 'all/cgpo-0'"));
  ::kill(train, SIGTERM);
  wait(train);
  const int lines = static_cast<int>(log_of("all/cgpo-0").size());
  const pid_t first = start(comparison(1'000'000));
  wait_for_lines("all/cgpo-0", lines + 2);
  const ProgramOutcome second = run(comparison(1'000'000));
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("another process is writing 'all'"));
  ::kill(first, SIGTERM);
  EXPECT_EQ(wait(first).code, 128 + SIGTERM);
}

}  // namespace
}  // namespace cgpo
