// Private to this folder: a policy as a robot runs it, as plain numbers; every format writes these.
//
//   x = (obs − mean)·inverse_std,   action = tanh(W_L … tanh(W_0 x + b_0) … + b_L),   control = clip(offset +
//   scale·action)
//
// All of it in float, as the program itself computes it. Nothing clips the normalised observation. The control of a
// task without a robot is the action.
#pragma once

#include <memory>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/judge/evaluation_report.hpp"
#include "cgpo/run/trained_policy.hpp"

namespace cgpo {

struct DenseLayer {
  int inputs = 0;
  int outputs = 0;
  std::vector<float> weight;  // row by row, one an output
  std::vector<float> bias;
};

// From the policy's action, in (−1, 1), to what the actuators get. One entry an action.
struct ControlRule {
  std::vector<float> scale, offset;
  std::vector<float> low, high;  // ±infinity: not clipped

  bool scales() const;  // whether any of it does anything
  bool shifts() const;
  bool clips() const;                                                   // an action within ±1 can be beyond a bound
  std::vector<float> control(const std::vector<float>& actions) const;  // of any number of rows
};

// What the program itself makes of some observations, for whoever runs the file to compare. Row by row.
struct Examples {
  int count = 0;
  std::vector<float> observations;
  std::vector<float> actions;
  std::vector<float> controls;
};

struct DeployedPolicy {
  int observations = 0;
  int actions = 0;
  std::vector<float> mean, inverse_std;
  std::vector<DenseLayer> layers;  // a tanh after each
  ControlRule rule;
  Examples examples;
  Json metadata;  // an object; its examples are those above
};

// evaluation: may be null.
DeployedPolicy describe_policy(const TrainedPolicy& policy, const EvaluationReport* evaluation);

// A value of the metadata as text: a text as it is, anything else as JSON.
std::string metadata_text(const Json& value);

}  // namespace cgpo
