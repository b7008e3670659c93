// What tasks, presets and algorithms set: all of it resolves, for all of them together.
#include "cgpo/config/defaults.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

Configuration resolve(const std::string& task, const std::string& preset, const std::string& algorithm) {
  ConfigurationRequest request;
  request.task = task;
  request.preset = preset;
  request.algorithm = algorithm;
  return resolve_configuration(request);
}

TEST(Defaults, NameOnlyWhatThereIs) {
  for (const DefaultsBlock& block : shipped_defaults()) {
    EXPECT_FALSE(block.tasks.empty() && block.presets.empty() && block.algorithms.empty()) << block.why;
    for (const std::string& name : block.tasks) EXPECT_NO_THROW(find_task(name)) << block.why;
    for (const std::string& name : block.presets) EXPECT_NO_THROW(check_preset(name)) << block.why;
    for (const std::string& name : block.algorithms) EXPECT_NO_THROW(find_algorithm(name)) << block.why;
  }
}

TEST(Defaults, ResolveForEveryTaskPresetAndAlgorithm) {
  int resolved = 0;
  for (const TaskEntry& entry : task_registry()) {
    if (!entry.needs.empty()) continue;  // there is none without a simulator outside
    for (const std::string& preset : preset_names()) {
      for (const AlgorithmEntry& algorithm : algorithm_registry()) {
        EXPECT_NO_THROW(resolve(entry.name, preset, algorithm.name)) << entry.name << preset << algorithm.name;
        ++resolved;
      }
    }
  }
  EXPECT_GE(resolved, 7 * 2 * 11);
}

// Every task sets how long it trains; numbers from the paper's table and from docs/tasks.
TEST(Defaults, AreThoseThatWerePublished) {
  const auto iterations = [](const std::string& task, const std::string& preset) {
    return resolve(task, preset, "cgpo").settings.iterations;
  };
  EXPECT_EQ(iterations("cartpole", "best"), 100);
  EXPECT_EQ(iterations("cartpole", "paper"), 100);
  EXPECT_EQ(iterations("ant", "best"), 150);
  EXPECT_EQ(iterations("ant", "paper"), 300);
  EXPECT_EQ(iterations("swimmer", "best"), 200);
  EXPECT_EQ(resolve("swimmer", "best", "mb-cgpo").settings.iterations, 150);
  EXPECT_EQ(resolve("ant", "paper", "cgpo").settings.environments, 256);
  EXPECT_EQ(resolve("reacher", "paper", "cgpo").settings.radius.initial, 1e-2);
  EXPECT_EQ(resolve("halfcheetah", "paper", "cgpo").settings.radius.initial, 1e-3);
  EXPECT_EQ(resolve("function", "best", "cgpo").settings.world.states, WorldStates::kReal);
  EXPECT_EQ(resolve("function-floor", "best", "cgpo").settings.world.states, WorldStates::kModel);
}

TEST(Defaults, LaterBlocksWin) {
  const Settings settings = resolve("reacher", "paper", "cpo").settings;
  EXPECT_EQ(settings.radius.upper, 1e-1);        // of the task in the paper, not of the paper
  EXPECT_EQ(settings.critic.batch, 1024);        // of the algorithm, not of the preset
  EXPECT_EQ(settings.update.kl, 0.01);           // of two algorithms alone
  EXPECT_EQ(settings.dual.learning_rate, 0.01);  // of the task, which nothing changes
  EXPECT_EQ(settings.policy.initial_std, 0.5);   // of the algorithm
  EXPECT_EQ(settings.gradient.discount, 1.0);    // of the algorithm, over the task's 0.99
}

TEST(Defaults, SayWhoSetWhatAndWhy) {
  const auto origins = resolve("reacher", "paper", "cpo").origins;
  EXPECT_EQ(origins.at("radius.upper").who, "task reacher, preset paper");
  EXPECT_EQ(origins.at("radius.lower").who, "preset paper");
  EXPECT_EQ(origins.at("dual.learning_rate").who, "task reacher");
  EXPECT_NE(origins.at("dual.learning_rate").why.find("light arm"), std::string::npos);
  EXPECT_EQ(origins.at("update.kl").who, "algorithm cpo");
  EXPECT_EQ(origins.at("horizon").who, "task reacher");
  EXPECT_EQ(origins.count("radius.damping"), 0U);
}

TEST(Defaults, ListWhatIsOfATaskOrAnAlgorithmAlone) {
  const auto keys = [](const std::vector<Assignment>& assignments) {
    std::vector<std::string> names;
    for (const Assignment& assignment : assignments) names.push_back(assignment.key);
    return names;
  };
  EXPECT_EQ(keys(defaults_of_algorithm("shac-lag")),
            (std::vector<std::string>{"batch.smallest", "update.learning_rate", "update.max_norm", "batch.adaptive"}));
  EXPECT_TRUE(defaults_of_algorithm("cgpo").empty());
  TaskSpec spec;
  spec.name = "halfcheetah";
  EXPECT_EQ(keys(defaults_of_task(spec)), (std::vector<std::string>{"dual.learning_rate", "bptt.window"}));
  spec.name = "of one's own";
  spec.defaults = {{"window", "3"}};
  EXPECT_EQ(keys(defaults_of_task(spec)), (std::vector<std::string>{"window"}));
}

std::string refusal(const std::string& text) {
  try {
    parse_defaults(text, "d.toml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(BadDefaults, AreRefusedWithTheirLine) {
  const std::string head = "[[defaults]]\ntasks = [\"ant\"]\nwhy = \"x\"\n[defaults.set]\n";
  EXPECT_EQ(refusal(head + "radius.upper = 1.0\n"), "nothing was thrown");
  EXPECT_EQ(refusal(head + "radius.uper = 1.0\n"), "d.toml, line 5: unknown key 'radius.uper'");
  EXPECT_EQ(refusal(head + "radius.upper = 0\n"), "d.toml, line 5: radius.upper must be a number above 0, not 0");
  EXPECT_NE(refusal("[[defaults]]\ntask = [\"ant\"]\n").find("d.toml, line 2: a block has tasks"), std::string::npos);
  EXPECT_NE(refusal("[[defaults]]\ntasks = 3\n").find("tasks must be a list of names"), std::string::npos);
  EXPECT_NE(refusal("[[defaults]]\nset.window = 3\n").find("does not say why"), std::string::npos);
  EXPECT_NE(refusal("window = 3\n").find("something else"), std::string::npos);
}

// A task of a user's own program says in its spec what it needs; a wrong key there is met by name.
TEST(OwnDefaults, ComeFromTheSpecAndAreChecked) {
  TaskSpec spec;
  spec.defaults = {{"iterations", "7"}, {"radius.test", "\"fixed\""}};
  const std::vector<Assignment> own = own_defaults(spec, "here");
  ASSERT_EQ(own.size(), 2U);
  Settings settings;
  for (const Assignment& assignment : own) find_key(assignment.key)->set(settings, assignment.value);
  EXPECT_EQ(settings.iterations, 7);
  EXPECT_EQ(settings.radius.test, RadiusTest::kFixed);
}

}  // namespace
}  // namespace cgpo
