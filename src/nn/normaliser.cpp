#include "cgpo/nn/normaliser.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

// Sum of term(j) over the kept samples, in eight partial sums that are added in a fixed order.
template <class Term>
double sum_kept(int samples, const std::uint8_t* keep, Term&& term) {
  constexpr int kPartial = 8;
  double sums[kPartial] = {};
  int j = 0;
  if (keep == nullptr) {
    for (; j + kPartial <= samples; j += kPartial) {
      for (int p = 0; p < kPartial; ++p) sums[p] += term(j + p);
    }
  }
  for (; j < samples; ++j) {
    if (keep == nullptr || keep[j] != 0) sums[j % kPartial] += term(j);
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

void Moments::clear() {
  count = 0;
  std::fill(mean.begin(), mean.end(), 0.0);
  std::fill(deviation.begin(), deviation.end(), 0.0);
}

double Moments::variance(int dimension) const {
  return count > 0 ? deviation[dimension] / static_cast<double>(count) : 0.0;
}

// Sums of equal floats are exact in double, so the deviation of what never changed is 0.
double Moments::input_std(int dimension, double smallest) const {
  return deviation[dimension] == 0.0 ? 1.0 : std::max(std::sqrt(variance(dimension)), smallest);
}

// The block's own mean first, then its deviations from it; then as merge() does.
template <class Real>
void Moments::add(Rows<const Real> raw, int samples, const std::uint8_t* keep) {
  std::int64_t added = samples;
  if (keep != nullptr) added = samples - std::count(keep, keep + samples, std::uint8_t{0});
  if (added == 0) return;
  const double n = static_cast<double>(added);
  const double before = static_cast<double>(count);
  const double total = before + n;
  for (int d = 0; d < static_cast<int>(mean.size()); ++d) {
    const Real* row = raw.row(d);
    const double center = sum_kept(samples, keep, [row](int j) { return static_cast<double>(row[j]); }) / n;
    const double spread = sum_kept(samples, keep, [row, center](int j) {
      const double away = static_cast<double>(row[j]) - center;
      return away * away;
    });
    const double shift = center - mean[d];
    deviation[d] += spread + shift * shift * (before * n / total);
    mean[d] += shift * (n / total);
  }
  count += added;
}

// Chan, Golub, LeVeque (1983): M = M_a + M_b + shift^2 n_a n_b / (n_a + n_b).
void Moments::merge(const Moments& other) {
  check(other.mean.size() == mean.size(), "merged moments have the same dimensions");
  if (other.count == 0) return;
  const double before = static_cast<double>(count);
  const double n = static_cast<double>(other.count);
  const double total = before + n;
  for (std::size_t d = 0; d < mean.size(); ++d) {
    const double shift = other.mean[d] - mean[d];
    deviation[d] += other.deviation[d] + shift * shift * (before * n / total);
    mean[d] += shift * (n / total);
  }
  count += other.count;
}

template <class Real>
Normaliser<Real>::Normaliser(int dimensions)
    : moments_(dimensions),
      scale_{std::vector<double>(dimensions), std::vector<double>(dimensions)},
      mean_(dimensions),
      inverse_std_(dimensions) {
  refresh();
}

template <class Real>
void Normaliser<Real>::refresh() {
  for (int d = 0; d < dimensions(); ++d) {
    scale_.mean[d] = moments_.mean[d];
    scale_.std[d] = moments_.input_std(d, kSmallestStd);
    mean_[d] = static_cast<Real>(scale_.mean[d]);
    inverse_std_[d] = static_cast<Real>(1.0 / scale_.std[d]);
  }
}

template <class Real>
void Normaliser<Real>::update(const Moments& batch) {
  moments_.merge(batch);
  refresh();
}

template <class Real>
void Normaliser<Real>::normalise(Rows<const Real> raw, Rows<Real> x, int samples) const {
  for (int d = 0; d < dimensions(); ++d) {
    const Real* from = raw.row(d);
    Real* to = x.row(d);
    const Real mean = mean_[d];
    const Real inverse = inverse_std_[d];
    for (int j = 0; j < samples; ++j) to[j] = (from[j] - mean) * inverse;
  }
}

template <class Real>
void Normaliser<Real>::scale_adjoint(Rows<Real> adjoint, int samples) const {
  for (int d = 0; d < dimensions(); ++d) {
    Real* row = adjoint.row(d);
    const Real inverse = inverse_std_[d];
    for (int j = 0; j < samples; ++j) row[j] *= inverse;
  }
}

template <class Real>
void Normaliser<Real>::save(Tensors& tensors, const std::string& prefix) const {
  tensors.put(prefix + ".count", moments_.count);
  tensors.put(prefix + ".mean", std::span<const double>(moments_.mean));
  tensors.put(prefix + ".deviation", std::span<const double>(moments_.deviation));
}

template <class Real>
void Normaliser<Real>::load(const Tensors& tensors, const std::string& prefix) {
  moments_.count = tensors.integer(prefix + ".count");
  tensors.get(prefix + ".mean", std::span<double>(moments_.mean));
  tensors.get(prefix + ".deviation", std::span<double>(moments_.deviation));
  refresh();
}

template void Moments::add<float>(Rows<const float>, int, const std::uint8_t*);
template void Moments::add<double>(Rows<const double>, int, const std::uint8_t*);
template class Normaliser<float>;
template class Normaliser<double>;

}  // namespace cgpo
