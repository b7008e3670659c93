#include "cgpo/nn/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"

namespace cgpo {

#define CGPO_DECLARE(isa)                                                                                           \
  namespace isa {                                                                                                   \
  void subtract_outer(const double* panel, const double* transposed, double* row, std::ptrdiff_t stride, int depth, \
                      int columns);                                                                                 \
  }
CGPO_DECLARE(baseline)
#ifdef CGPO_X86
CGPO_DECLARE(avx2)
CGPO_DECLARE(avx512)
#endif
#undef CGPO_DECLARE

namespace {

constexpr int kPanel = 32;  // columns that are factored before the rest of the matrix hears of them

auto choose_loop() {
#ifdef CGPO_X86
  if (best_isa() == Isa::kAvx512) return avx512::subtract_outer;
  if (best_isa() == Isa::kAvx2) return avx2::subtract_outer;
#endif
  return baseline::subtract_outer;
}

}  // namespace

bool cholesky_factor(std::span<double> matrix, int size) {
  check(std::ssize(matrix) == std::ptrdiff_t{size} * size, "a square matrix");
  static const auto subtract_outer = choose_loop();
  const auto row = [&](int i) { return matrix.data() + std::ptrdiff_t{i} * size; };
  std::vector<double> transposed(static_cast<std::size_t>(kPanel) * static_cast<std::size_t>(size));
  for (int begin = 0; begin < size; begin += kPanel) {
    const int end = std::min(begin + kPanel, size);
    for (int i = begin; i < size; ++i) {
      double* const l = row(i);
      for (int j = begin; j < std::min(i, end); ++j) {
        double sum = l[j];
        for (int k = begin; k < j; ++k) sum -= l[k] * row(j)[k];
        l[j] = sum / row(j)[j];
      }
      if (i < end) {
        double pivot = l[i];
        for (int k = begin; k < i; ++k) pivot -= l[k] * l[k];
        if (!(pivot > 0.0)) return false;  // NaN too
        l[i] = std::sqrt(pivot);
      }
      for (int k = begin; k < std::min(i + 1, end); ++k)
        transposed[static_cast<std::size_t>(std::ptrdiff_t{k - begin} * size + i)] = l[k];
    }
    for (int i = end; i < size; ++i) {
      subtract_outer(row(i) + begin, transposed.data() + end, row(i) + end, size, end - begin, i + 1 - end);
    }
  }
  return true;
}

void cholesky_solve(std::span<const double> factor, int size, std::span<double> x) {
  const auto row = [&](int i) { return factor.data() + std::ptrdiff_t{i} * size; };
  for (int i = 0; i < size; ++i) {
    double sum = x[static_cast<std::size_t>(i)];
    for (int k = 0; k < i; ++k) sum -= row(i)[k] * x[static_cast<std::size_t>(k)];
    x[static_cast<std::size_t>(i)] = sum / row(i)[i];
  }
  for (int i = size - 1; i >= 0; --i) {
    const double value = x[static_cast<std::size_t>(i)] / row(i)[i];
    x[static_cast<std::size_t>(i)] = value;
    for (int k = 0; k < i; ++k) x[static_cast<std::size_t>(k)] -= row(i)[k] * value;
  }
}

}  // namespace cgpo
