#include "cgpo/export/deployed_policy.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "cgpo/base/numbers.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/export/names.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

constexpr int kExamples = 8;

ControlRule rule_of(const TaskSpec& spec, const Robot* robot) {
  const auto actions = static_cast<std::size_t>(spec.actions);
  ControlRule rule;
  rule.scale.assign(actions, 1.0F);
  rule.offset.assign(actions, 0.0F);
  rule.low.assign(actions, -std::numeric_limits<float>::infinity());
  rule.high.assign(actions, std::numeric_limits<float>::infinity());
  if (robot == nullptr) return rule;
  for (std::size_t i = 0; i < actions; ++i) {
    rule.scale[i] = static_cast<float>(robot->scale(i));
    if (!robot->action_offset.empty()) rule.offset[i] = static_cast<float>(robot->action_offset[i]);
    const Actuator& actuator = robot->model->actuators[i];
    if (!actuator.control_limited) continue;
    rule.low[i] = static_cast<float>(actuator.control_lower);
    rule.high[i] = static_cast<float>(actuator.control_upper);
  }
  return rule;
}

void take_network(const TrainedPolicy& trained, DeployedPolicy& policy) {
  const LoadedActor loaded(trained.spec(), trained.configuration().settings, trained.checkpoint());
  const Actor<float> actor = loaded.actor();
  for (int d = 0; d < policy.observations; ++d) {  // rounded as Normaliser does
    policy.mean.push_back(static_cast<float>(actor.normaliser.scale().mean[static_cast<std::size_t>(d)]));
    policy.inverse_std.push_back(static_cast<float>(1.0 / actor.normaliser.scale().std[static_cast<std::size_t>(d)]));
  }
  const Mlp<float>& mlp = actor.policy.mlp();
  for (int l = 0; l < mlp.layers(); ++l) {
    const float* const weight = actor.parameters.data() + mlp.weight_offset(l);
    const float* const bias = actor.parameters.data() + mlp.bias_offset(l);
    policy.layers.push_back({mlp.fan_in(l),
                             mlp.fan_out(l),
                             {weight, weight + static_cast<std::ptrdiff_t>(mlp.fan_in(l)) * mlp.fan_out(l)},
                             {bias, bias + mlp.fan_out(l)}});
  }
}

// Spread evenly over ±2 standard deviations of what the policy has seen, by multiples of the golden ratio.
Examples examples_of(const TrainedPolicy& trained, const DeployedPolicy& policy) {
  constexpr double kGolden = 0.6180339887498949;
  Examples examples;
  examples.count = kExamples;
  int drawn = 0;
  for (int row = 0; row < kExamples; ++row) {
    for (std::size_t d = 0; d < policy.mean.size(); ++d) {
      const double turn = ++drawn * kGolden;
      const double place = 4.0 * (turn - std::floor(turn)) - 2.0;
      examples.observations.push_back(static_cast<float>(policy.mean[d] + place / policy.inverse_std[d]));
    }
  }
  examples.actions = trained.act(examples.observations);
  examples.controls = policy.rule.control(examples.actions);
  return examples;
}

template <class Values>
Json rows_of(const Values& values, int width) {
  Json rows = Json::array();
  for (auto at = values.begin(); at != values.end(); at += width) rows.push_back(Json(std::vector(at, at + width)));
  return rows;
}

// With no more digits than a float has. JSON knows no infinity.
Json short_numbers(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) {
    list.push_back(std::isfinite(value) ? Json::parse(fmt::format("{}", value)) : Json());
  }
  return list;
}

void describe_task(const TrainedPolicy& trained, Json& metadata) {
  const Configuration& configuration = trained.configuration();
  const TaskSpec& spec = trained.spec();
  const Robot* const robot = configuration.made->find_robot();
  metadata["version"] = kVersion;
  metadata["task"] = configuration.task;
  metadata["algorithm"] = configuration.algorithm;
  metadata["seed"] = configuration.seed;
  metadata["checkpoint"] = trained.path() == trained.run().best() ? "best" : "last";
  metadata["iteration"] = iteration_of(trained.checkpoint());
  metadata["control_period"] = spec.dt > 0.0 ? Json(spec.dt * spec.substeps) : Json();
  metadata["observations"] = observation_names(*configuration.made);
  const ActionNames names = action_names(*configuration.made);
  metadata["actuators"] = names.actuators;
  metadata["joints"] = names.joints;
  if (robot != nullptr) {
    metadata["engine"] = robot->engine == Engine::kOwn      ? "own"
                         : robot->engine == Engine::kMujoco ? "mujoco"
                                                            : "simulator";
  }
}

void describe_rule(const ControlRule& rule, bool robot, Json& metadata) {
  metadata["normalisation"] = "included: x = (obs - mean) * inverse_std, not clipped";
  metadata["action"] = robot ? "physical control, action scale included: clip(action_offset + action_scale * a, "
                               "control_low, control_high), where a is the policy's action, in (-1, 1)"
                             : "the policy's action, in (-1, 1), as the task takes it; there is no robot";
  metadata["action_scale"] = short_numbers(rule.scale);
  metadata["action_offset"] = short_numbers(rule.offset);
  metadata["control_low"] = short_numbers(rule.low);
  metadata["control_high"] = short_numbers(rule.high);
}

void describe_limits(const TrainedPolicy& trained, const EvaluationReport* evaluation, Json& metadata) {
  const Configuration& configuration = trained.configuration();
  const Constraints constraints = resolve_constraints(*configuration.made, configuration.settings);
  metadata["horizon"] = configuration.settings.horizon;
  metadata["costs"] = Json::array();
  metadata["limits"] = Json::array();
  for (std::size_t i = 0; i < constraints.costs.size(); ++i) {
    const CostSpec& cost = trained.spec().costs[static_cast<std::size_t>(constraints.costs[i])];
    const Json limit = std::isfinite(constraints.limits[i]) ? Json(constraints.limits[i]) : Json();
    metadata["costs"].push_back({{"name", cost.name}, {"limit", limit}, {"meaning", cost.meaning}});
    metadata["limits"].push_back(limit);
  }
  metadata["verdict"] = evaluation == nullptr ? Json("unknown: the policy was not evaluated when it was exported")
                                              : Json(overall_sentence(*evaluation));
  metadata["feasible"] = evaluation == nullptr ? Json() : Json(evaluation->feasible);
  metadata["evaluation"] = evaluation == nullptr ? Json() : to_json(*evaluation);
}

}  // namespace

bool ControlRule::scales() const {
  return std::any_of(scale.begin(), scale.end(), [](float value) { return value != 1.0F; });
}

bool ControlRule::shifts() const {
  return std::any_of(offset.begin(), offset.end(), [](float value) { return value != 0.0F; });
}

// Rounding is monotonic, so what ±1 does not reach no action reaches.
bool ControlRule::clips() const {
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (offset[i] + scale[i] > high[i] || offset[i] - scale[i] < low[i]) return true;
  }
  return false;
}

std::vector<float> ControlRule::control(const std::vector<float>& actions) const {
  std::vector<float> controls;
  for (std::size_t k = 0; k < actions.size(); ++k) {
    const std::size_t i = k % scale.size();
    const float control = offset[i] + scale[i] * actions[k];
    controls.push_back(control < low[i] ? low[i] : control > high[i] ? high[i] : control);
  }
  return controls;
}

DeployedPolicy describe_policy(const TrainedPolicy& trained, const EvaluationReport* evaluation) {
  const Robot* const robot = trained.configuration().made->find_robot();
  DeployedPolicy policy;
  policy.observations = trained.spec().observations;
  policy.actions = trained.spec().actions;
  take_network(trained, policy);
  policy.rule = rule_of(trained.spec(), robot);
  policy.examples = examples_of(trained, policy);
  policy.metadata = Json::object();
  describe_task(trained, policy.metadata);
  describe_rule(policy.rule, robot != nullptr, policy.metadata);
  describe_limits(trained, evaluation, policy.metadata);
  policy.metadata["example_observations"] = rows_of(policy.examples.observations, policy.observations);
  policy.metadata["example_actions"] = rows_of(policy.examples.controls, policy.actions);
  return policy;
}

std::string metadata_text(const Json& value) {
  return value.is_string() ? printable(value.get<std::string>()) : json_text(value);
}

}  // namespace cgpo
