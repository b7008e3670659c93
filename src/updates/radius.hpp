// The adaptive trust-region radius (paper, "worst-case analysis"; algorithm.md §4 of the notes is settled in docs/).
#pragma once

#include <optional>
#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/updates/settings.hpp"

namespace cgpo {

// What an update was expected to bring.
struct Prediction {
  double return_before = 0.0;        // J_R(θ_k)
  double return_after = 0.0;         // Ĵ_R(θ_{k+1})
  std::vector<double> costs_before;  // J_C(θ_k)
  std::vector<double> costs_after;   // Ĵ_C(θ_{k+1})
  std::vector<double> margins;       // by how much the step aimed below each limit
};

// What came of it, with standard errors of the comparison; 0 where there is none. NaN: too many episodes diverged.
struct Outcome {
  double return_now = 0.0;
  double return_se = 0.0;
  std::vector<double> costs_now;
  std::vector<double> costs_se;
};

struct RadiusTestResult {
  double rho = 1.0;       // realised / predicted change of the return
  double rho_sure = 1.0;  // the same, less what chance may have added
  double zeta = 1.0;      // smallest (distance to the limit) / (error of the cost's prediction)
};

// ρ = (J_R(θ_k) − J_R(θ_{k+1})) / (Ĵ_R(θ_k) − Ĵ_R(θ_{k+1})),  ζ = min_i |b_i − J_Ci| / |J_Ci − Ĵ_Ci|.
// A denominator of about 0 counts as satisfied (1) when its numerator is about 0 too; else the ratio is infinite, with
// the sign of the numerator for ρ.
RadiusTestResult test_radius(const Prediction& predicted, double return_now, const std::vector<double>& costs_now,
                             const std::vector<double>& limits);

// What the updates since the radius last changed were expected to bring. One of them may gain less than chance moves a
// return by; together they can be judged.
struct Account {
  double return_before = 0.0;  // of the first of them
  double promised = 0.0;       // Σ of the predicted changes
  double promised_size = 0.0;  // Σ of their sizes
  double updates = 0.0;
};

// ρ' = 1 − max(0, promised − realised) / |promised| of the return's change over the account,
// ζ' = min_i 1 − max(0, J_Ci − max(Ĵ_Ci, b_i − margin_i)) / max(margin_i, |b_i| / 100):
// 1 as long as a cost stays where the step aimed at, 0 when all of the margin is used up.
// What chance explains (`certainty` standard errors) is not held against the steps. Nor does it speak for them:
// rho_sure counts as much as missing, else steps whose gain drowns in noise would lengthen the radius without end.
RadiusTestResult test_radius_one_sided(const Account& account, const Prediction& predicted, const Outcome& outcome,
                                       const std::vector<double>& limits, const RadiusSettings& settings);

// Whether the outcome is worse than predicted by more than `factor` times the predicted change and beyond what chance
// explains (two standard errors): the return too low, or a cost too high and above its limit; or not a number.
bool far_off(const Prediction& predicted, const Outcome& outcome, const std::vector<double>& limits, double factor);

class AdaptiveRadius {
 public:
  explicit AdaptiveRadius(const RadiusSettings& settings) : settings_(settings), value_(settings.initial) {}

  double value() const { return value_; }  // δ̂
  void expect(Prediction prediction, double radius) {
    expected_ = std::move(prediction);
    taken_ = radius;
  }
  const std::optional<Prediction>& expected() const { return expected_; }  // of a step that is not judged yet
  // Compares the last prediction with what came, and adapts. Nothing if there was no update to judge.
  std::optional<RadiusTestResult> observe(const Outcome& outcome, const std::vector<double>& limits);
  // If the last step should be taken back, the radius of the one to take instead, and there is nothing to judge. The
  // radius shrinks to it, unless it is fixed: then only that step is shorter.
  std::optional<double> retreat(const Outcome& outcome, const std::vector<double>& limits);
  // After a refused update: shrinks, and there is nothing to judge next time.
  void refuse();

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

 private:
  void shrink();

  RadiusSettings settings_;
  double value_;
  std::optional<Prediction> expected_;
  std::optional<Account> account_;
  double taken_ = 0.0;  // radius of the step that is expected
};

}  // namespace cgpo
