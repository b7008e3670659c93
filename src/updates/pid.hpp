// Multipliers that a PID controller sets (Stooke, Achiam and Abbeel, 2020): the violation itself, the sum of all
// violations and the rise of the cost, each with a gain. The sum alone is DualVariables; what is added to it damps its
// swings.
//
// Units are those of lagrange.hpp, a step's share of an episode, and gains are multiples of dual.learning_rate, so that
// a task says once what a unit of its costs is worth.
#pragma once

#include <cstdint>
#include <vector>

#include "cgpo/updates/lagrange.hpp"

namespace cgpo {

class PidMultipliers {
 public:
  PidMultipliers(const DualSettings& dual, const PidSettings& pid, const std::vector<double>& limits, int horizon);

  // ν = clip(η (K_P P + K_I I + K_D D), 0, upper), with v = (J_C − b)/T and bars for what has a memory,
  //   P = v̄,   η K_I I ← clip(η K_I (I + v), 0, upper),   D = max(0, c̄ − c̄ `delay` iterations ago),   c = J_C/T.
  // Memories begin with their first value, and before there is one so old the first stands for it: what was not seen
  // is no rise. Numbers that are not finite move nothing.
  void follow(const std::vector<double>& costs);
  const std::vector<double>& values() const { return values_; }

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

 private:
  double rise(std::size_t i, double cost);

  PidSettings pid_;
  double rate_;   // η
  double upper_;  // of a multiplier
  double horizon_;
  DualVariables integral_;                 // η K_I I
  std::vector<std::int64_t> seen_;         // whether there was a finite cost
  std::vector<double> violations_;         // v̄
  std::vector<double> costs_;              // c̄
  std::vector<std::vector<double>> past_;  // c̄ of the last `delay` iterations, the oldest first
  std::vector<double> values_;             // ν
};

}  // namespace cgpo
