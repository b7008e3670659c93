// J of a policy that keeps changing, with its noise and without (deployed), as all iterations together tell it: a
// Kalman filter.
//
// State x = (J, gap, β), J deployed = J + gap. An update of the policy moves it, episodes measure it:
//   J ← J + change + β·reach + scatter m·reach,   gap ← f²·gap + scatter g·reach,   β ← β + drift
//   z = J + noise  from episodes with noise,      z = J + gap + noise  from those without
// `change` is what the update's linear prediction says, `reach` the largest change that a step of its length could have
// made, f the factor on σ: what noise does to J is of second order. β is by how much predictions miss on average,
// signed and in units of reach: the curvature that a secant sees. A J that bends up comes out above its tangent every
// time. m is how much predictions scatter around that; it follows the innovations, each weighed by how much it says of
// m at all. The gap drifts much less than J moves, so where it is hard to measure in one iteration, many tell it
// together.
#pragma once

#include <array>
#include <string>

#include "cgpo/base/tensors.hpp"

namespace cgpo {

class MovingEstimate {
 public:
  bool known() const { return known_; }
  bool knows_deployed() const { return knows_deployed_; }
  double mean() const { return x_[0]; }
  double variance() const { return p_[0][0]; }
  double deployed() const { return x_[0] + x_[1]; }
  double deployed_variance() const { return p_[0][0] + 2.0 * p_[0][1] + p_[1][1]; }
  double gap() const { return x_[1]; }
  double bend() const { return x_[2]; }                            // β
  double scatter_of_reach() const { return scatter_ + p_[2][2]; }  // m², and what is not known of β

  void move(double change, double reach, double noise_factor);
  // The variances after such a move.
  double variance_after(double reach) const;
  double deployed_variance_after(double reach) const;
  // A standard error that is not known (one episode) changes nothing, but for the first value.
  void measure(double value, double standard_error);
  void measure_deployed(double value, double standard_error);
  // The policy is that of `before` again: J is what it was, what was learned about misses stays.
  void go_back_to(const MovingEstimate& before);

  void save(Tensors& tensors, const std::string& name) const;
  void load(const Tensors& tensors, const std::string& name);

 private:
  using Vector = std::array<double, 3>;
  void correct(const Vector& seen, double miss, double noise);
  void follow_scatter(double miss, double expected);

  bool known_ = false;
  bool knows_deployed_ = false;
  Vector x_ = {};
  std::array<Vector, 3> p_ = {};  // covariance
  double reach_ = 0.0;            // of moves since the last measurement
  double scatter_ = 0.04;         // m²
  double weight_ = 1.0;           // behind it
};

}  // namespace cgpo
