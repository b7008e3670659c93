// Running mean and variance of the observations, and the scaling that they give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cgpo/base/rows.hpp"
#include "cgpo/base/tensors.hpp"
#include "cgpo/nn/mlp.hpp"

namespace cgpo {

// Count, mean and sum of squared deviations of each dimension, in double. Blocks of a batch fill one each; merged in
// the order of the blocks they give the same bits for any number of threads.
struct Moments {
  std::int64_t count = 0;
  std::vector<double> mean;
  std::vector<double> deviation;  // sum of (x - mean)^2

  explicit Moments(int dimensions = 0) : mean(dimensions, 0.0), deviation(dimensions, 0.0) {}
  void clear();

  // Adds the columns of `raw` [dimensions x samples] whose keep is not 0 (all if keep is null).
  template <class Real>
  void add(Rows<const Real> raw, int samples, const std::uint8_t* keep = nullptr);
  void merge(const Moments& other);

  double variance(int dimension) const;  // of the population; 0 before the second sample
  // What an input is divided by: at least `smallest`, but 1 if it has not changed at all (a switch that nobody
  // touched). Such an input's weights have not been trained, and when it does change, Mlp::fold_input_change multiplies
  // them by new / old.
  double input_std(int dimension, double smallest) const;
};

// x = (raw - mean) / std, std at least 1e-4 or 1 (input_std), nothing clipped. The statistics change only in update().
template <class Real>
class Normaliser {
 public:
  static constexpr double kSmallestStd = 1e-4;

  explicit Normaliser(int dimensions);  // mean 0, std 1 until the first update

  int dimensions() const { return static_cast<int>(mean_.size()); }
  const InputScale& scale() const { return scale_; }
  const Moments& moments() const { return moments_; }

  // Merges new samples. Keep a copy of scale() from before it for Mlp::fold_input_change.
  void update(const Moments& batch);

  void normalise(Rows<const Real> raw, Rows<Real> x, int samples) const;
  // Adjoint of x to adjoint of raw, in place: rows times 1 / std.
  void scale_adjoint(Rows<Real> adjoint, int samples) const;

  void save(Tensors& tensors, const std::string& prefix) const;
  void load(const Tensors& tensors, const std::string& prefix);

 private:
  void refresh();

  Moments moments_;
  InputScale scale_;
  std::vector<Real> mean_;
  std::vector<Real> inverse_std_;
};

extern template class Normaliser<float>;
extern template class Normaliser<double>;

}  // namespace cgpo
