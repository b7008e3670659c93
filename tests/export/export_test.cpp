// What an exported file computes is what the program itself does, judged by a C and a C++ compiler and by a reader of
// ONNX files that is not ours (onnx_reader.py). tests/export/onnx_parity.py does the same with onnxruntime and torch.
#include "cgpo/export/export.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/judge/evaluate_policy.hpp"
#include "cgpo/run/open_run.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr double kParity = 1e-5;
constexpr int kRows = 200;

// Two servos and a motor: offsets, ranges that clip and one that there is not; and words that C could misread.
constexpr const char* kArm = R"T(
summary = "an arm"
horizon = 10
period = 0.04
observation = ["joint('shoulder').position", "sin(joint('elbow').position)", "qvel", "previous_action",
               "joint('shoulder').velocity - joint('elbow').velocity", "norm(qvel)", "0.5 * goal[1]"]
reward = "-sum_squares(qpos)"
[robot]
mjcf = '''<mujoco><option timestep="0.01"/><worldbody><body>
  <joint name="shoulder" axis="0 1 0"/><geom size="0.1" mass="1"/>
  <body pos="0.5 0 0"><joint name="elbow" axis="0 1 0"/><geom size="0.1" mass="1"/>
    <body pos="0.5 0 0"><joint axis="0 1 0"/><geom size="0.1" mass="1"/></body></body></body></worldbody>
  <actuator><position name="lift" joint="shoulder" kp="5" kv="1" ctrlrange="-0.2 1.1"/>
    <position name="bend" joint="elbow" kp="5" kv="1" ctrlrange="-3 3"/><motor joint="elbow"/></actuator></mujoco>'''
action_scale = 0.75
action_offset = [0.5, -0.3, 0]
[states]
goal = "uniform(-1, 1, 2)"
[[costs]]
name = "speed"
expression = "sum_squares(qvel) / 2"
meaning = "not */ the end, nor /* a beginning ?)T"
                             R"T(?/ of a comment; nor \\ of \"\"\" a text, é"
limit = 3
)T";

struct Trained {
  std::string label;
  std::string task;
  std::vector<std::string> sets;
};

class ExportTest : public ::testing::Test {
 protected:
  TrainedPolicy train(const Trained& what) const {
    ConfigurationRequest request;
    request.task = what.task;
    std::vector<std::string> sets = {"iterations=2", "environments=8", "critic.steps=4", "horizon=10"};
    sets.insert(sets.end(), what.sets.begin(), what.sets.end());
    for (const std::string& set : sets) request.sets.push_back(parse_assignment(set));
    const fs::path run = scratch_ / what.label;
    open_run(resolve_configuration(request), {.folder = run}).train();
    embolden(RunPaths{run}.checkpoint());
    return TrainedPolicy::load(run);
  }

  // A young policy's actions are near 0, where a tanh or a clip that is missing would not show.
  static void embolden(const fs::path& checkpoint) {
    Tensors tensors = read_tensors(checkpoint);
    std::string last;
    for (const auto& [name, tensor] : tensors.entries) {
      if (name.starts_with("policy.layer") && name.ends_with(".weight")) last = std::max(last, name);
    }
    std::vector<float> weight(tensors.entries.at(last).bytes.size() / sizeof(float));
    tensors.get(last, std::span<float>(weight));
    for (float& value : weight) value *= 30.0F;
    tensors.put(last, std::span<const float>(weight));
    write_tensors(checkpoint, tensors);
  }

  std::string arm() const {
    write_file_atomically(scratch_ / "arm.toml", kArm);
    return (scratch_ / "arm.toml").string();
  }

  ExportResult write(const TrainedPolicy& policy, const std::string& to, const std::string& file,
                     const std::string& name = "cgpo_policy") const {
    return export_policy(
        policy, {.to = to, .out = scratch_ / file, .force = true, .episodes = 0, .policy_action = true, .name = name});
  }

  // About what the network has seen, and up to three times as far away.
  static std::vector<float> observations(const TrainedPolicy& policy) {
    const LoadedActor actor(policy.spec(), policy.configuration().settings, policy.checkpoint());
    const InputScale& scale = actor.actor().normaliser.scale();
    std::vector<float> all;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      RandomStream random(3, Purpose::kTest, 0, row);
      const double size = std::pow(10.0, random.uniform(-1.0, 0.5));
      for (std::size_t i = 0; i < scale.mean.size(); ++i) {
        all.push_back(static_cast<float>(scale.mean[i] + size * scale.std[i] * random.normal()));
      }
    }
    return all;
  }

  // By the robot's own rule, in double.
  static std::vector<double> controls(const TrainedPolicy& policy, const std::vector<float>& actions) {
    const Robot* const robot = policy.configuration().made->find_robot();
    std::vector<double> all(actions.begin(), actions.end());
    if (robot == nullptr) return all;
    const auto width = static_cast<std::size_t>(policy.spec().actions);
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k] = clipped_control(robot->model->actuators[k % width], robot->control(k % width, all[k]));
    }
    return all;
  }

  template <class Expected>
  static void expect_near(const std::vector<float>& found, const Expected& expected, const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    double worst = 0.0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double error = std::abs(found[k] - expected[k]) / std::max(1.0, std::abs(double{expected[k]}));
      if (!(error <= worst)) worst = error;
    }
    EXPECT_LE(worst, kParity) << what;
  }

  void save(const std::string& file, const std::vector<float>& values) const {
    write_file_atomically(scratch_ / file,
                          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  std::vector<float> load(const std::string& file) const {
    const std::string bytes = read_file(scratch_ / file);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }

  // What the command printed; its exit code must be this one.
  std::string shell(const std::string& command, int code = 0) const {
    const std::string whole = fmt::format("cd '{}' && {{ {}; }} > log 2>&1", scratch_.path().string(), command);
    const int status = std::system(whole.c_str());
    std::string log = read_file(scratch_ / "log");
    EXPECT_EQ(WEXITSTATUS(status), code) << command << "\n" << log;
    return log;
  }

  // Compiled with all warnings as errors, given the rows of the file `rows`.
  std::vector<float> run_c(const std::string& language) const {
    write_file_atomically(scratch_ / "main.c", R"(
#include <stdio.h>
#include "policy.h"
int main(void) {
  float obs[CGPO_POLICY_OBSERVATIONS], act[2 * CGPO_POLICY_ACTIONS];
  while (fread(obs, sizeof obs, 1, stdin) == 1) {
    cgpo_policy(obs, act);
    cgpo_policy_action(obs, act + CGPO_POLICY_ACTIONS);
    if (fwrite(act, sizeof act, 1, stdout) != 1) return 1;
  }
  return 0;
}
)");
    shell(fmt::format("{} {} -O2 -Wall -Wextra -pedantic -Werror -x {} main.c -o program && ./program < rows > acts",
                      CGPO_COMPILER, language == "c" ? "-std=c99" : "-std=c++11", language));
    return load("acts");
  }

  void expect_parity(const TrainedPolicy& policy);

  ScratchFolder scratch_;
};

void ExportTest::expect_parity(const TrainedPolicy& policy) {
  SCOPED_TRACE(policy.run().folder.filename().string());
  const std::vector<float> rows = observations(policy);
  save("rows", rows);
  const std::vector<float> actions = policy.act(rows);
  const std::vector<double> control = controls(policy, actions);
  // Of each row, the control and then the policy's own action.
  const auto width = static_cast<std::size_t>(policy.spec().actions);
  std::vector<double> expected;
  for (std::size_t begin = 0; begin < actions.size(); begin += width) {
    for (std::size_t i = 0; i < width; ++i) expected.push_back(control[begin + i]);
    for (std::size_t i = 0; i < width; ++i) expected.push_back(double{actions[begin + i]});
  }

  write(policy, "c", "policy.h");
  for (const char* const language : {"c", "c++"}) expect_near(run_c(language), expected, language);
  shell(fmt::format("{} -std=c99 -Wall -Wextra -pedantic -Werror -DCGPO_POLICY_TEST -x c policy.h && ./a.out",
                    CGPO_COMPILER));

  if (std::string_view(CGPO_PYTHON).empty()) return;
  write(policy, "onnx", "policy.onnx");
  const Json model = Json::parse(shell(fmt::format("{} {} policy.onnx rows acts", CGPO_PYTHON, CGPO_ONNX_READER)));
  expect_near(load("acts"), expected, "onnx");
  EXPECT_EQ(model.at("ir"), 8);
  EXPECT_EQ(model.at("opset"), 17);
  EXPECT_EQ(model.at("domain"), "");
  EXPECT_EQ(model.at("input"), Json({"obs", "batch", policy.spec().observations}));
  const Json shape = {"batch", policy.spec().actions};
  EXPECT_EQ(model.at("outputs"), Json::array({Json::array({"action", shape}), Json::array({"policy_action", shape})}));

  // Without torch, that it is Python, and what it says of itself.
  const ExportResult torch = write(policy, "torch", "policy.py");
  write_file_atomically(scratch_ / "read.py", R"(
import ast, json
for line in ast.parse(open("policy.py").read()).body:
    if isinstance(line, ast.Assign) and line.targets[0].id == "METADATA":
        print(json.dumps(json.loads(line.value.args[0].value)))
)");
  EXPECT_EQ(Json::parse(shell(fmt::format("{} read.py", CGPO_PYTHON))), torch.metadata);
}

TEST_F(ExportTest, ComputesWhatTheProgramDoes) {
  expect_parity(train({"cartpole", "cartpole", {}}));                     // a scale of 3, and clipped
  expect_parity(train({"quadruped", "quadruped", {}}));                   // servos about a pose
  expect_parity(train({"function", "function", {"policy.hidden=[5]"}}));  // no robot
  expect_parity(train({"cheetah", "halfcheetah", {"policy.hidden=[33, 7, 20]", "policy.learn_std=true"}}));
  expect_parity(train({"arm", arm(), {"policy.hidden=[16]"}}));
}

TEST_F(ExportTest, ClipsAsTheActuatorsDo) {
  const TrainedPolicy policy = train({"arm", arm(), {"policy.hidden=[16]"}});
  const std::vector<double> control = controls(policy, policy.act(observations(policy)));
  EXPECT_DOUBLE_EQ(*std::max_element(control.begin(), control.end()), 1.1);  // of 0.5 + 0.75
  const Json metadata = write(policy, "c", "policy.h").metadata;
  EXPECT_EQ(metadata.at("action_scale"), Json({0.75, 0.75, 0.75}));
  EXPECT_EQ(metadata.at("action_offset"), Json({0.5, -0.3, 0.0}));
  EXPECT_EQ(metadata.at("control_low"), Json({-0.2, -3.0, nullptr}));
  EXPECT_EQ(metadata.at("control_high"), Json({1.1, 3.0, nullptr}));
}

TEST_F(ExportTest, SaysWhatANumberIs) {
  const TrainedPolicy policy = train({"arm", arm(), {}});
  const Json metadata = write(policy, "onnx", "policy.onnx").metadata;
  EXPECT_EQ(metadata.at("observations"),
            Json({"shoulder.position", "sin(elbow.position)", "shoulder.velocity", "elbow.velocity", "joint2.velocity",
                  "previous_action[0]", "previous_action[1]", "previous_action[2]",
                  "shoulder.velocity - elbow.velocity", nullptr, "goal[1] * 0.5"}));
  EXPECT_EQ(metadata.at("actuators"), Json({"lift", "bend", nullptr}));
  EXPECT_EQ(metadata.at("joints"), Json({"shoulder", "elbow", "elbow"}));
  EXPECT_EQ(metadata.at("control_period"), 0.04);
  EXPECT_EQ(metadata.at("costs"),
            Json({{{"name", "speed"}, {"limit", 3.0}, {"meaning", policy.spec().costs[0].meaning}}}));
  EXPECT_EQ(metadata.at("limits"), Json({3.0}));
  EXPECT_EQ(metadata.at("task"), "arm");
  EXPECT_EQ(metadata.at("checkpoint"), "last");
  EXPECT_EQ(metadata.at("iteration"), 2);
  EXPECT_THAT(metadata.at("verdict").get<std::string>(), HasSubstr("unknown"));
  if (std::string_view(CGPO_PYTHON).empty()) return;
  // All of it is in the file, texts as they are and the rest as JSON.
  save("rows", {});
  const Json model = Json::parse(shell(fmt::format("{} {} policy.onnx rows acts", CGPO_PYTHON, CGPO_ONNX_READER)));
  for (const auto& [key, value] : metadata.items()) {
    const std::string text = model.at("metadata").at(key).get<std::string>();
    EXPECT_EQ(value.is_string() ? Json(text) : Json::parse(text), value) << key;
  }
}

TEST_F(ExportTest, TheVerdictIsThatOfAnEvaluation) {
  const TrainedPolicy policy = train({"function", "function", {}});
  const ExportResult result = export_policy(policy, {.to = "c", .out = scratch_ / "policy.h", .episodes = 64});
  const EvaluationReport report = evaluate(policy, {.episodes = 64});
  EXPECT_EQ(result.metadata.at("verdict"), overall_sentence(report));
  EXPECT_EQ(result.metadata.at("evaluation"), to_json(report));
  EXPECT_THAT(read_file(result.out), HasSubstr(fmt::format("_FEASIBLE {}", report.feasible ? 1 : 0)));
}

// Several policies in one program, and a test that can fail.
TEST_F(ExportTest, AHeaderHasTheNamesThatItIsGiven) {
  const TrainedPolicy policy = train({"cartpole", "cartpole", {}});
  write(policy, "c", "walk.h", "walk");
  write(policy, "c", "stand_up.h", "stand_up");
  write_file_atomically(scratch_ / "main.c", R"(
#include <stdlib.h>
#include "walk.h"
#include "stand_up.h"
#include "walk.h"
int main(void) {
  float obs[WALK_OBSERVATIONS] = {0}, a[WALK_ACTIONS], b[STAND_UP_ACTIONS];
  const char *const names[] = WALK_OBSERVATION_NAMES;
  walk(obs, a);
  stand_up(obs, b);
  if (a[0] != b[0] || names[0][0] == 0 || !(WALK_PERIOD > 0.0)) return 1;
  obs[0] = (float)strtod("nan", NULL);
  walk(obs, a);
  return a[0] != a[0] ? 0 : 2; /* what is not a number stays so, through a clip, too */
}
)");
  shell(fmt::format("{} -std=c99 -Wall -Wextra -pedantic -Werror -x c main.c && ./a.out", CGPO_COMPILER));
  std::string text = read_file(scratch_ / "walk.h");
  const std::size_t bias = text.find("bias2[1] = { ");
  ASSERT_NE(bias, std::string::npos);
  write_file_atomically(scratch_ / "spoiled.h", text.insert(bias + 13, "0.5f + "));
  EXPECT_THAT(shell(fmt::format("{} -DWALK_TEST -x c spoiled.h && ./a.out", CGPO_COMPILER), 1),
              HasSubstr("wrong numbers"));
}

TEST_F(ExportTest, Refuses) {
  const TrainedPolicy policy = train({"function", "function", {}});
  const auto sentence = [&](const ExportOptions& options) -> std::string {
    try {
      export_policy(policy, options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const fs::path out = scratch_ / "policy";
  EXPECT_THAT(sentence({.to = "tensorflow", .out = out}), HasSubstr("onnx, c or torch"));
  EXPECT_THAT(sentence({.to = "onx", .out = out}), HasSubstr("did you mean 'onnx'?"));
  EXPECT_THAT(sentence({.to = "c", .out = out, .name = "2legs"}), HasSubstr("'2legs'"));
  EXPECT_THAT(sentence({.to = "c", .out = out, .name = "int"}), HasSubstr("'int' means something in C"));
  EXPECT_THAT(sentence({.to = "c", .out = ""}), HasSubstr("--out"));
  EXPECT_THAT(sentence({.to = "c", .out = scratch_.path()}), HasSubstr("is a folder"));
  EXPECT_THAT(sentence({.to = "c", .out = scratch_ / "nowhere/policy.h"}), HasSubstr("there is no folder"));
  EXPECT_FALSE(fs::exists(out));
  write_file_atomically(out, "mine");
  EXPECT_THAT(sentence({.to = "c", .out = out}), HasSubstr("--force"));
  EXPECT_EQ(read_file(out), "mine");
  EXPECT_EQ(sentence({.to = "c", .out = out, .force = true, .episodes = 0}), "");
}

}  // namespace
}  // namespace cgpo
