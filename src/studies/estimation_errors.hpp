// How well two estimates foresee what an update does to the first cost (paper, Eqs. 2, 4, 5 and the figure on
// estimation errors):
//
// GBE: δᵀ∇J_C, where ∇J_C comes from short windows closed by critics (shac) or from whole episodes (bptt).
//
// ABE: κ (E[ρ A_C] − E[A_C]), where κ = 1/(1−γ) and A_C are generalised advantages of discounted critics that do not
// know the time. The paper has no E[A_C], which is 0 for exact advantages and counts κ times for others: abe_printed.
#pragma once

#include <vector>

#include "cgpo/gradient/advantages.hpp"
#include "cgpo/studies/laboratory.hpp"

namespace cgpo {

struct EstimationOptions {
  double length = 0.01;  // ‖δ‖
  int repetitions = 100;
  double discount = 0.99;  // γ of the advantages
  double lambda = 0.95;
  int window_fits = 4;
  int discounted_fits = 8;  // these critics start from nothing
};

// Relative errors, one a repetition; NaN where the update changed nothing.
struct EstimationErrors {
  std::vector<double> shac;
  std::vector<double> bptt;
  std::vector<double> abe;
  std::vector<double> abe_printed;
  std::vector<double> change;  // J_C(θ+δ) − J_C(θ)
  std::vector<double> shac_predicted;
  std::vector<double> abe_predicted;
  int diverged = 0;  // environments of all repetitions
};

// Every repetition has episodes of its own; policy and critics are the same. The update is the sub-problem's, from the
// shac gradients.
EstimationErrors estimation_errors(const AlgorithmContext& context, const Tensors& checkpoint,
                                   const EstimationOptions& options, const Tick& tick);

struct AdvantagePrediction {
  double change = 0.0;   // κ (E[ρ A] − E[A])
  double printed = 0.0;  // κ E[ρ A]
};

// The advantage-based estimate in double. Advantages of every signal at the columns of every block.
class AdvantageEstimator {
 public:
  AdvantageEstimator(Laboratory& laboratory, double discount, double lambda);

  // Fits the discounted critics on batches from `batch` on.
  void fit(int batch, int fits);
  // Predicted change of the signal on the episodes that the laboratory collected last.
  AdvantagePrediction predict(std::size_t signal, std::span<const double> step);
  // Of the last prediction: [signal][block], at the columns of the steps.
  const std::vector<std::vector<AlignedVector<double>>>& advantages() const { return advantages_; }

 private:
  void find_advantages();

  Laboratory& laboratory_;
  AdvantageOptions options_;
  std::vector<Critic<double>> critics_;
  std::vector<std::vector<AlignedVector<double>>> values_;      // [signal][block]
  std::vector<std::vector<AlignedVector<double>>> advantages_;  // [signal][block]
};

}  // namespace cgpo
