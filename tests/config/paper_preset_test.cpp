// `--preset paper` is the letter of the paper: its table of hyper-parameters, robot by robot and key by key. Numbers
// here are copied from the paper, not from defaults.toml.
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cgpo/config/configuration.hpp"
#include "cgpo/config/keys.hpp"

namespace cgpo {
namespace {

Configuration resolve_paper(const std::string& task, const std::string& algorithm = "cgpo") {
  ConfigurationRequest request;
  request.task = task;
  request.preset = "paper";
  request.algorithm = algorithm;
  return resolve_configuration(request);
}

// Its columns. Swimmer is in another chapter, which gives only T and b; the rest is as for the others.
struct PaperRow {
  std::string task;
  int num_epochs;
  int num_envs;
  int episode_length;
  double delta_init;
  double delta_upper;
  double cost_limit;
};
const std::vector<PaperRow> kPaperTable = {{"cartpole", 100, 128, 300, 1e-3, 1e-2, -50.0},
                                           {"reacher", 300, 128, 300, 1e-2, 1e-1, 400.0},
                                           {"halfcheetah", 300, 128, 200, 1e-3, 1e-2, 400.0},
                                           {"ant", 300, 256, 300, 1e-3, 1e-2, 1000.0},
                                           {"swimmer", 300, 128, 300, 1e-3, 1e-2, 150.0}};

using KeyValues = std::map<std::string, std::string>;

// Its rows that are the same for all, and what its algorithms and equations say. What is of ours is off.
const KeyValues kPaperSays = {{"window", "10"},
                              {"finite_horizon", "true"},
                              {"critic.learning_rate", "1e-3"},
                              {"critic.batch", "64"},
                              {"critic.targets", "window"},
                              {"critic.fit_first", "false"},
                              {"critic.sobolev", "0.0"},
                              {"critic.memory", "0"},
                              {"critic.passes", "1e6"},  // one epoch is critic.steps
                              {"batch.adaptive", "false"},
                              {"batch.deployed", "0.0"},
                              {"policy.settle", "1.0"},
                              {"radius.lower", "1e-4"},
                              {"radius.shrink", "0.8"},
                              {"radius.grow", "1.25"},
                              {"radius.test", "paper"},
                              {"radius.metric", "euclid"},
                              {"radius.debias", "false"},
                              {"radius.margin", "0.0"},
                              {"radius.confidence", "0.0"},
                              {"radius.retreat", "0.0"},
                              {"radius.sidestep", "true"},
                              {"radius.cutoff", "0.0"},
                              {"gradient.source", "shac"},
                              {"gradient.discount", "1.0"},
                              {"gradient.correction", "none"},
                              {"twin.first", "0.0"},
                              {"bptt.window", "0"},
                              {"world.states", "model"},
                              {"world.correction", "false"},
                              {"world.members", "1"},
                              {"world.held_out", "0.0"}};

// Where it is silent: ours, but the same for every task (docs/algorithms/cgpo.md lists them).
const KeyValues kPaperIsSilent = {{"policy.hidden", "[64, 64]"},  {"policy.initial_std", "0.1"},
                                  {"policy.learn_std", "false"},  {"policy.last_layer_scale", "0.01"},
                                  {"critic.hidden", "[64, 64]"},  {"critic.lambda", "0.95"},
                                  {"radius.eta_low", "0.25"},     {"radius.eta_high", "0.75"},
                                  {"world.hidden", "[128, 128]"}, {"world.first_scale", "1.0"},
                                  {"world.first_fit", "1"},       {"world.minibatches", "512"},
                                  {"world.batch", "512"},         {"world.learning_rate", "1e-2"}};

// In kPaperTable, and what follows from it.
const std::set<std::string> kOfTheTable = {"iterations",     "environments", "horizon",      "costs",       "limits",
                                           "radius.initial", "radius.upper", "critic.steps", "world.buffer"};

// Without effect on cgpo and mb-cgpo as the paper has them: of other algorithms, of other rules, of the machine.
const std::set<std::string> kWithoutEffect = {
    "snapshots",       "discount",          "radius.damping",    "radius.rows",    "radius.certainty",
    "world.patience",  "world.check_every", "gradient.baseline", "batch.smallest", "batch.signal",
    "batch.precision", "policy.least_std",  "twin.smallest",     "twin.prior"};
bool is_of_others(const std::string& key) {
  for (const char* section : {"update.", "dual.", "focops.", "pid.", "pdo.", "cpo.", "kernel."}) {
    if (key.starts_with(section)) return true;
  }
  return kWithoutEffect.contains(key);
}

// As the key would have it that was given this text.
std::string as_written(const std::string& key, const std::string& text) {
  Settings settings;
  find_key(key)->set(settings, parse_assignment(key + "=" + text).value);
  return format_value(find_key(key)->get(settings));
}

TEST(PaperPreset, HasTheTableOfThePaper) {
  for (const PaperRow& row : kPaperTable) {
    const Settings settings = resolve_paper(row.task).settings;
    EXPECT_EQ(settings.iterations, row.num_epochs) << row.task;
    EXPECT_EQ(settings.environments, row.num_envs) << row.task;
    EXPECT_EQ(settings.horizon, row.episode_length) << row.task;
    EXPECT_EQ(settings.radius.initial, row.delta_init) << row.task;
    EXPECT_EQ(settings.radius.upper, row.delta_upper) << row.task;
    EXPECT_EQ(settings.limits, std::vector<double>{row.cost_limit}) << row.task;
    const int samples = row.num_envs * row.episode_length;
    EXPECT_EQ(settings.critic.steps * 64, samples) << row.task;  // one epoch
    EXPECT_EQ(settings.world.buffer, samples) << row.task;       // 𝒟 is this iteration's
  }
}

TEST(PaperPreset, HasWhatThePaperSaysForEveryRobot) {
  for (const PaperRow& row : kPaperTable) {
    const Settings settings = resolve_paper(row.task).settings;
    for (const KeyValues& table : {kPaperSays, kPaperIsSilent}) {
      for (const auto& [key, text] : table) {
        ASSERT_NE(find_key(key), nullptr) << "there is no " << key;
        EXPECT_EQ(format_value(find_key(key)->get(settings)), as_written(key, text)) << row.task << ", " << key;
      }
    }
  }
}

// A new key that would depart from the paper by default does not slip in: it is put into one of the lists first.
TEST(PaperPreset, IsDecidedForEveryKey) {
  for (const Key& key : settings_keys()) {
    const std::string name(key.name);
    const int places = int{kPaperSays.contains(name)} + int{kPaperIsSilent.contains(name)} +
                       int{kOfTheTable.contains(name)} + int{is_of_others(name)};
    EXPECT_EQ(places, 1) << name << ": what does the paper say, and what does the preset set?";
  }
}

// What tasks chose for the best results is not in the paper; a multiplier's rate is of baselines, for which it has
// none.
TEST(PaperPreset, LeavesNothingThatATaskChose) {
  const std::set<std::string> own = {"horizon", "costs", "limits", "dual.learning_rate"};
  for (const PaperRow& row : kPaperTable) {
    for (const std::string algorithm : {"cgpo", "mb-cgpo"}) {
      for (const auto& [key, origin] : resolve_paper(row.task, algorithm).origins) {
        if (!own.contains(key)) {
          EXPECT_NE(origin.who, "task " + row.task) << key;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cgpo
