// What the commands print when all is well.
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <sstream>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Results : public ProgramTest {
 protected:
  // Standard output is one line, and that is a JSON object.
  Json json_of(const ProgramOutcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
    return Json::parse(outcome.out);
  }
  void expect_fields(const Json& object, const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_TRUE(object.contains(name)) << name << " in " << object.dump();
  }
};

TEST_F(Results, AloneTheProgramTellsWhatItCan) {
  const ProgramOutcome outcome = run({});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("train"), HasSubstr("eval"), HasSubstr("check"), HasSubstr("tasks")));
}

TEST_F(Results, Version) {
  const ProgramOutcome outcome = run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, ::testing::MatchesRegex("cgpo [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(Results, Listings) {
  const Json tasks = json_of(run({"tasks", "--json"})).at("tasks");
  ASSERT_GE(tasks.size(), 2U);
  for (const Json& task : tasks) {
    expect_fields(task, {"name", "observations", "actions", "horizon", "substeps", "dt", "costs", "differentiable"});
    for (const Json& cost : task.at("costs")) expect_fields(cost, {"name", "limit"});
  }
  EXPECT_EQ(tasks.at(0).at("name"), "function");
  EXPECT_EQ(tasks.at(0).at("costs").at(0).at("limit"), 8.0);
  expect_fields(json_of(run({"algorithms", "--json"})).at("algorithms").at(0), {"name", "summary"});
  EXPECT_THAT(run({"tasks"}).out,
              AllOf(HasSubstr("function-floor"), HasSubstr("height <= 8"), HasSubstr("task.start_width")));
  EXPECT_THAT(run({"tasks"}).out, HasSubstr("without a limit ppo reaches speed = "));
  EXPECT_THAT(run({"algorithms"}).out, HasSubstr("cgpo"));
}

// The keys and values of a file that the program wrote, read without any of its code.
std::map<std::string, Json> toml_values(const std::string& text) {
  std::map<std::string, Json> values;
  std::istringstream lines(text);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[")) section = line.substr(1, line.find(']') - 1) + ".";
    const std::size_t equals = line.find(" = ");
    if (line.starts_with("[") || line.starts_with("#") || equals == std::string::npos) continue;
    values[section + line.substr(0, equals)] = Json::parse(line.substr(equals + 3, line.find(" # ") - equals - 3));
  }
  return values;
}

TEST_F(Results, SettingsAreThoseOfARunsFile) {
  const std::vector<std::string> of_run = {"function", "--algo", "ppo", "--set", "iterations=1", "environments=8"};
  std::vector<std::string> train = {"train", "--out", "run"};
  train.insert(train.end(), of_run.begin(), of_run.end());
  ASSERT_EQ(run(train).code, 0);
  std::map<std::string, Json> stored = toml_values(read_file(at("run/config.toml")));
  for (const char* key : {"algorithm", "preset", "seed", "task.name"}) EXPECT_EQ(stored.erase(key), 1U) << key;

  std::vector<std::string> list = {"settings", "--json"};
  list.insert(list.end(), of_run.begin(), of_run.end());
  const Json settings = json_of(run(list)).at("settings");
  EXPECT_EQ(settings.size(), stored.size());
  for (const Json& setting : settings) {
    expect_fields(setting, {"name", "type", "default", "range", "meaning", "origin"});
    EXPECT_EQ(setting.at("default"), stored.at(setting.at("name"))) << setting.dump();
  }
  const Json all = json_of(run({"settings", "--json"})).at("settings");
  EXPECT_EQ(all.size(), settings.size() - 2);  // the task has two options
  EXPECT_THAT(run({"settings", "ant"}).out, AllOf(HasSubstr("task.engine"), HasSubstr("radius.initial")));
}

TEST_F(Results, Check) {
  const Json check = json_of(run({"check", "function", "--states", "4", "--window", "3", "--json"}));
  EXPECT_LT(check.at("max_relative_error"), 1e-7);
  EXPECT_EQ(check.at("states"), 4);
  EXPECT_EQ(check.at("window"), 3);
  EXPECT_THAT(run({"check", "function", "--set", "task.start_width=3"}).out,
              HasSubstr("agree on 32 windows of 10 steps"));
}

TEST_F(Results, TrainAndEvaluate) {
  const Json train = json_of(run(small_training("run", 3, {"--json"})));
  expect_fields(
      train, {"out", "iterations", "steps", "seconds", "return", "return_paper", "costs", "limits", "case", "radius"});
  EXPECT_EQ(train.at("iterations"), 3);
  EXPECT_EQ(train.at("iteration"), 2);
  EXPECT_EQ(train.at("out"), "run");
  const std::string log = read_file(at("run/log.jsonl"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
  for (const char* file : {"config.toml", "version", "timing.jsonl", "checkpoint.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(at("run") / file)) << file;
  }

  const Json eval = json_of(run({"eval", "run", "--episodes", "64", "--json"}));
  expect_fields(eval, {"episodes", "return", "return_paper", "costs", "episode_length", "feasible"});
  expect_fields(eval.at("costs").at(0), {"name", "mean", "se", "limit", "violation_rate"});
  EXPECT_EQ(eval.at("episodes"), 64);
  EXPECT_EQ(eval.at("episode_length"), 20.0);
  EXPECT_EQ(eval.at("costs").at(0).at("limit"), 1.9);
  EXPECT_EQ(json_of(run({"eval", "run", "--episodes", "64", "--threads", "4", "--json"})), eval);
  EXPECT_NE(json_of(run({"eval", "run", "--episodes", "64", "--seed", "9", "--json"})), eval);

  // What is deployed is what --deterministic shows alone, and the verdict is on both.
  const Json mean = json_of(run({"eval", "run", "--episodes", "64", "--deterministic", "--json"}));
  EXPECT_FALSE(mean.contains("deployed"));
  EXPECT_NE(mean.at("costs"), eval.at("costs"));
  for (const auto& [key, value] : eval.at("deployed").items()) EXPECT_EQ(value, mean.at(key)) << key;
  expect_fields(eval.at("deployed"),
                {"return", "return_paper", "costs", "episode_length", "diverged", "episodes", "feasible", "verdict"});
  const bool noisy = eval.at("costs").at(0).at("mean") <= 1.9;
  EXPECT_EQ(eval.at("feasible"), noisy && eval.at("deployed").at("feasible"));
  EXPECT_THAT(run({"eval", "run", "--episodes", "64", "--deterministic"}).out,
              AllOf(HasSubstr("without noise"), HasSubstr("±"), HasSubstr("verdict"), Not(HasSubstr("deployed"))));
  EXPECT_THAT(run({"eval", "run", "--episodes", "64"}).out, HasSubstr("with noise"));
  EXPECT_THAT(run({"eval", "run", "--episodes", "64"}).out, HasSubstr("deployed: the mean action"));
}

TEST_F(Results, Explain) {
  ASSERT_EQ(run(small_training("run", 6)).code, 0);
  const Json plain = json_of(run({"eval", "run", "--episodes", "64", "--json"}));
  EXPECT_FALSE(plain.contains("explanation"));
  Json eval = json_of(run({"eval", "run", "--episodes", "64", "--explain", "--json"}));
  const Json explanation = eval.at("explanation");
  expect_fields(explanation, {"findings", "diagnosis", "history"});
  expect_fields(explanation.at("diagnosis"), {"signals", "gradient", "gradient_signals", "reach", "windows",
                                              "critic_explained", "critic_cosines", "actions", "observations"});
  EXPECT_EQ(explanation.at("diagnosis").at("windows").size(), 5U);  // 1, 2, 5, 10, 20
  EXPECT_EQ(explanation.at("history").at("iterations"), 6);
  EXPECT_EQ(explanation.at("history").at("delivered").at(0).at("updates"), 5);
  eval.erase("explanation");
  EXPECT_EQ(eval, plain);
  EXPECT_EQ(
      json_of(run({"eval", "run", "--episodes", "64", "--explain", "--threads", "3", "--json"})).at("explanation"),
      explanation);

  const ProgramOutcome text = run({"eval", "run", "--episodes", "64", "--explain"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("verdict"), HasSubstr("signal to noise"), HasSubstr("5, the run's"),
                              HasSubstr("updates, last 6 of 6"), HasSubstr("share that came")));
  for (const Json& finding : explanation.at("findings")) expect_fields(finding, {"cause", "problem", "text", "try"});
}

// Runs spoilt on purpose: each is told its own cause.
TEST_F(Results, ExplainNamesTheCause) {
  const auto causes = [&](const std::string& name, const std::vector<std::string>& settings) {
    EXPECT_EQ(run(small_training(name, 8, settings)).code, 0);
    std::vector<std::string> found;
    const Json eval = json_of(run({"eval", name, "--episodes", "64", "--explain", "--json"}));
    for (const Json& finding : eval.at("explanation").at("findings")) found.push_back(finding.at("cause"));
    return found;
  };
  using ::testing::Contains;
  EXPECT_THAT(causes("pinned", {"radius.lower=1e-9", "radius.upper=1e-9", "radius.initial=1e-9"}),
              AllOf(Contains("radius-pinned"), Contains("return-flat")));
  EXPECT_THAT(causes("no-critic", {"critic.steps=0"}), Contains("critic-useless"));
  EXPECT_THAT(causes("good-critic", {"critic.steps=1000", "critic.targets=episode"}),
              AllOf(Not(Contains("critic-useless")), Not(Contains("radius-pinned"))));
}

// A run of an older version: its log lacks what is logged now, its checkpoint says nothing of a prediction.
TEST_F(Results, ExplainsOldRuns) {
  ASSERT_EQ(run(small_training("run", 4)).code, 0);
  std::istringstream lines(read_file(at("run/log.jsonl")));
  std::string old;
  for (std::string line; std::getline(lines, line);) {
    Json entry = Json::parse(line);
    for (const char* name : {"costs_low", "costs_high", "violation_rates", "contact_share", "change_predicted",
                             "change_realised", "change_se", "gradient_errors", "critic_cosines"})
      entry.erase(name);
    old += entry.dump() + "\n";
  }
  write_file_atomically(at("run/log.jsonl"), old);
  const Json explanation = json_of(run({"eval", "run", "--episodes", "64", "--explain", "--json"})).at("explanation");
  EXPECT_TRUE(explanation.at("history").at("delivered").empty());
  EXPECT_EQ(run({"eval", "run", "--episodes", "64", "--explain"}).code, 0);
  std::filesystem::remove(at("run/log.jsonl"));
  EXPECT_THAT(run({"eval", "run", "--episodes", "64", "--explain"}).out, HasSubstr("no log yet"));
}

TEST_F(Results, RunsHaveADefaultPlaceAndCanStartFromOneAnother) {
  ASSERT_EQ(run({"train", "function", "--set", "iterations=1", "environments=8", "critic.steps=1"}).code, 0);
  ASSERT_TRUE(std::filesystem::exists(at("runs/function-cgpo-s0/checkpoint.safetensors")));
  const ProgramOutcome second = run({"train", "function", "--seed", "1", "--init", "runs/function-cgpo-s0", "--set",
                                     "iterations=1", "environments=8", "critic.steps=1"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(read_file(at("runs/function-cgpo-s1/config.toml")), HasSubstr("init = \"runs/function-cgpo-s0\""));
}

TEST_F(Results, ForceReplacesARun) {
  ASSERT_EQ(run(small_training("run", 3)).code, 0);
  ASSERT_EQ(run(small_training("run", 2, {"--force"})).code, 0);
  ASSERT_EQ(run(small_training("fresh", 2)).code, 0);
  expect_same_run("run", "fresh");
}

// A policy is replayed on MuJoCo: another simulator of the same robot, so numbers that are close but not the same.
TEST_F(Results, EvalOnAnotherEngine) {
  ASSERT_EQ(run({"train", "cartpole", "--set", "iterations=2", "--set", "environments=16", "--set", "critic.steps=4",
                 "--out", "run"})
                .code,
            0);
  const Json own = json_of(run({"eval", "run", "--episodes", "64", "--json"}));
  const Json other = json_of(run({"eval", "run", "--episodes", "64", "--engine", "mujoco", "--json"}));
  const Json finer =
      json_of(run({"eval", "run", "--episodes", "64", "--engine", "mujoco", "--substeps", "8", "--json"}));
  const auto mean = [](const Json& result) { return result.at("return").at("mean").get<double>(); };
  EXPECT_EQ(other.at("engine"), "mujoco");
  EXPECT_NEAR(mean(other), mean(own), 2.0);
  EXPECT_NE(other.at("costs"), own.at("costs"));
  EXPECT_NE(finer.at("costs"), other.at("costs"));
  EXPECT_EQ(run({"eval", "run", "--engine", "mujco"}).code, 2);
  const Json weak = json_of(run({"eval", "run", "--episodes", "64", "--set", "task.action_scale=0.5", "--json"}));
  EXPECT_NE(weak.at("costs"), own.at("costs"));
  EXPECT_THAT(run({"eval", "run", "--set", "limits=[1]"}).err, HasSubstr("limits: only options of the task"));
}

TEST_F(Results, Bench) {
  const Json result = json_of(run({"bench", "cartpole", "--kernels", "--json"}));
  expect_fields(result, {"machine", "results"});
  ASSERT_GE(result.at("results").size(), 1U);
  for (const Json& row : result.at("results")) {
    expect_fields(row, {"name", "backend", "threads", "ns_per_substep", "ns_per_substep_gradient", "steps_per_second",
                        "peer", "ratio"});
    EXPECT_EQ(row.at("name"), "cartpole");
    EXPECT_GT(row.at("ns_per_substep").get<double>(), 0.0);
  }
  std::set<std::string> names;
  const Json windows = json_of(run({"bench", "cartpole", "--windows", "--json"}));
  for (const Json& row : windows.at("results")) {
    EXPECT_GT(row.at("steps_per_second").get<double>(), 0.0);
    names.insert(row.at("name"));
  }
  EXPECT_EQ(names, (std::set<std::string>{"cartpole-windows", "cartpole-gradients"}));
  names.clear();
  const Json model = json_of(run({"bench", "function-floor", "--training", "--json"}));
  for (const Json& row : model.at("results")) {
    EXPECT_GT(row.at("steps_per_second").get<double>(), 0.0);
    names.insert(row.at("name"));
  }
  EXPECT_EQ(names, (std::set<std::string>{"function-floor-episodes", "function-floor-fit", "function-floor-train"}));
  EXPECT_EQ(run({"bench", "cartpol"}).code, 2);
}

}  // namespace
}  // namespace cgpo
