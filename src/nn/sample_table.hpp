// Network inputs, one sample after the other: what random minibatches are gathered from.
//
// Trajectories lie feature by feature, where a random sample would touch one cache line for each feature. Turned once,
// a sample is one or two lines, and all critics of an iteration draw from the same table.
#pragma once

#include <cstdint>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/rows.hpp"

namespace cgpo {

template <class Real>
class SampleTable {
 public:
  // Samples have `features` values; reuses memory it already has.
  void resize(int features, std::ptrdiff_t samples) {
    features_ = features;
    samples_ = samples;
    width_ = width_of(features);
    const std::size_t needed = static_cast<std::size_t>(width_) * static_cast<std::size_t>(samples);
    if (values_.size() < needed) values_.resize(needed);
  }
  // What it takes, at least.
  static std::size_t bytes(int features, std::ptrdiff_t samples) {
    return static_cast<std::size_t>(width_of(features)) * static_cast<std::size_t>(samples) * sizeof(Real);
  }

  int features() const { return features_; }
  std::ptrdiff_t samples() const { return samples_; }
  std::ptrdiff_t width() const { return width_; }  // distance between samples
  const Real* data() const { return values_.data(); }
  Real* sample(std::ptrdiff_t i) { return values_.data() + i * width_; }  // threads may write different ones

  // Samples begin … begin+count-1 = columns of x [features-1 x count], and `last` as their last feature (a critic's
  // t/T). Threads may write disjoint ranges.
  void write(std::ptrdiff_t begin, Rows<const Real> x, int count, Real last) {
    Real* to = values_.data() + begin * width_;
    for (int j = 0; j < count; ++j) {
      for (int f = 0; f + 1 < features_; ++f) to[j * width_ + f] = x.data[f * x.stride + j];
      to[j * width_ + features_ - 1] = last;
    }
  }

 private:
  static constexpr std::ptrdiff_t width_of(int features) { return (std::ptrdiff_t{features} + 3) / 4 * 4; }

  int features_ = 0;
  std::ptrdiff_t samples_ = 0;
  std::ptrdiff_t width_ = 0;
  AlignedVector<Real> values_;
};

}  // namespace cgpo
