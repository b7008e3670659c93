// What tests of kernels run them on.
#pragma once

#include <cmath>
#include <vector>

namespace cgpo::testing {

// Rows of a batch, at any offset from an aligned address, with a guard value behind every row.
template <class Real>
class Lanes {
 public:
  static constexpr Real kGuard = Real(-12345.5);
  Lanes(int rows, int lanes, int offset) : lanes_(lanes), stride_(lanes + offset + 1) {
    memory_.assign(static_cast<std::size_t>(rows * stride_ + offset), kGuard);
    for (int i = 0; i < rows; ++i) pointers_.push_back(memory_.data() + offset + i * stride_);
  }
  Real& at(int row, int lane) { return pointers_[static_cast<std::size_t>(row)][lane]; }
  Real* const* rows() { return pointers_.data(); }
  const Real* const* const_rows() { return const_cast<const Real* const*>(pointers_.data()); }
  bool guards_intact() const {
    for (const Real* row : pointers_) {
      if (row[lanes_] != kGuard) return false;
    }
    return true;
  }

 private:
  int lanes_;
  int stride_;
  std::vector<Real> memory_;
  std::vector<Real*> pointers_;
};

template <class Real>
bool same_bits(Real a, Real b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace cgpo::testing
