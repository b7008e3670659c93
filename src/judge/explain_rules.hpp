// Private to this folder: the rules of `explain`, one function each.
//
// A rule compares numbers with what runs that learn look like and adds what it finds; it may look at what the rules
// before it found. The table in explain.cpp has their order.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/judge/explain.hpp"

namespace cgpo::explain_rules {

inline double percent(double share) { return 100.0 * share; }

inline constexpr const char* kExplodes = "gradient-explodes";

// What there is to judge by, and what several rules ask of it.
struct Case {
  explicit Case(const Explanation& explanation)
      : all(explanation),
        settings(explanation.settings),
        evaluation(explanation.evaluation),
        diagnosis(explanation.diagnosis),
        history(explanation.history) {}

  const Explanation& all;
  const Settings& settings;
  const EvaluationReport& evaluation;
  const Diagnosis& diagnosis;
  const RunHistory& history;

  std::string name(std::size_t k) const;  // of J_k in a sentence
  double mean_of(std::size_t k) const;
  bool matters(std::size_t k) const;  // whether anything depends on J_k: a cost without a limit is only watched
  bool steers(std::size_t k) const;   // whether updates follow its gradient: a constraint kept by far does not bind
  bool is_flat(std::size_t k) const;  // whether a step within the radius changes it by next to nothing
  bool windowed() const { return settings.gradient.source == GradientSource::kShac; }
  const WindowGradients* own_window() const;  // gradients without critics over the run's own window; null: none

  // Advice that several rules give.
  std::string limit_energy() const;
  std::string shorter_steps() const;
  std::string more_episodes(int factor) const;
};

class Findings {
 public:
  void add(std::string cause, std::string text, std::string advice, bool problem = true) {
    found_.push_back({std::move(cause), problem, std::move(text), std::move(advice)});
  }
  bool has(const std::string& cause) const {
    return std::any_of(found_.begin(), found_.end(), [&](const Finding& finding) { return finding.cause == cause; });
  }
  std::vector<Finding> take() { return std::move(found_); }

 private:
  std::vector<Finding> found_;
};

void divergence(const Case& c, Findings& found);
void failed_updates(const Case& c, Findings& found);
void explosion(const Case& c, Findings& found);
void drowned_gradients(const Case& c, Findings& found);
void flat_return(const Case& c, Findings& found);
void critics(const Case& c, Findings& found);
void unsteerable_constraints(const Case& c, Findings& found);
void broken_promises(const Case& c, Findings& found);
void poor_model(const Case& c, Findings& found);
void poor_twin(const Case& c, Findings& found);
void radius_bounds(const Case& c, Findings& found);
void early_ends(const Case& c, Findings& found);
void wide_costs(const Case& c, Findings& found);
void noisy_limit(const Case& c, Findings& found);
void far_inputs(const Case& c, Findings& found);
void saturation(const Case& c, Findings& found);
void jitter(const Case& c, Findings& found);
void contact(const Case& c, Findings& found);
void fall_back(const Case& c, Findings& found);
void warnings(const Case& c, Findings& found);

}  // namespace cgpo::explain_rules
