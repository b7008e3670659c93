// What looks wrong with a run, in words: `cgpo eval RUN --explain`.
//
// Numbers come from three places: the evaluation, a diagnosis of the policy on fresh episodes, and the run's log.
// find_causes() compares them with what runs that learn look like, and names what to try. docs/guide/diagnostics.md
// says where the thresholds come from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/numbers.hpp"
#include "cgpo/judge/evaluate_policy.hpp"
#include "cgpo/run/run_log.hpp"
#include "cgpo/studies/diagnosis.hpp"

namespace cgpo {

// What updates brought, beside what they promised, of one J.
struct Delivery {
  int updates = 0;
  double share = 0.0;      // of the promised change that came: the slope of realised over predicted changes, through 0
  double se = 0.0;         // its standard error
  double predicted = 0.0;  // mean size of the promised change
};

// Errors of a learned model, means over the recent iterations, as the log has them: in standard deviations.
struct ModelErrors {
  double step = 0.0;    // of the state's change, one step ahead, on held-out episodes
  double window = 0.0;  // of the observation, at a window's end
};

// The log in short. `recent`: what is said of updates is about this many, the last ones.
struct RunHistory {
  int iterations = 0;
  int recent = 0;
  bool trust_region = true;  // whether updates keep within a radius; an empty log leaves it open
  double at_lower = 0.0;     // share of the recent iterations whose radius was at its bound
  double at_upper = 0.0;
  double refused = 0.0;  // share of the recent iterations
  double retreated = 0.0;
  std::vector<Delivery> deliveries;  // J_R, then each J_C; empty: the log is older than these fields
  std::optional<ModelErrors> model;  // if gradients come from one
  int warnings = 0;                  // among the recent
  std::string last_warning;
  std::optional<double> best_return;  // of a policy that may be deployed
  int best_iteration = 0;
  double recent_return = 0.0;  // mean of those of the last five iterations that can be judged; NaN: none
  double last_return = kNan;   // of the last iteration; NaN: it cannot be judged
  double return_range = 0.0;   // largest − smallest of the run
};
RunHistory summarise_log(const std::vector<LogEntry>& log, const RadiusSettings& radius);

// All that there is to judge by.
struct Explanation {
  std::string task;
  int substeps = 0;       // physics steps of an environment step, of a robot; 0: it is none
  int twin_substeps = 0;  // of its twin; 0: it has none
  bool twin_fitted = false;
  std::vector<std::string> offered_costs;  // that the task has
  Settings settings;
  EvaluationReport evaluation;
  Diagnosis diagnosis;
  RunHistory history;
};

// Of a policy that was evaluated with these options.
Explanation explain(const TrainedPolicy& policy, const EvaluationOptions& options, const EvaluationReport& report);

struct Finding {
  std::string cause;    // a short fixed name, for programs
  bool problem = true;  // false: nothing is wrong, but it is good to know
  std::string text;     // what was seen, with the number
  std::string advice;   // what to try
};

std::vector<Finding> find_causes(const Explanation& explanation);

std::string to_text(const Explanation& explanation, const std::vector<Finding>& findings);  // several lines
Json to_json(const Explanation& explanation, const std::vector<Finding>& findings);

}  // namespace cgpo
