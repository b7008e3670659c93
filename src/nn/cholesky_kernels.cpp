// The loop in which a factorisation spends its time, compiled once for each instruction set.
#include <cstddef>

#include "cgpo/base/vectorise.hpp"

namespace cgpo::CGPO_ISA {

void subtract_outer(const double* panel, const double* transposed, double* row, std::ptrdiff_t stride, int depth,
                    int columns);

// row[j] -= Σ_k panel[k] · transposed[k · stride + j], four k at a time.
void subtract_outer(const double* panel, const double* transposed, double* row, std::ptrdiff_t stride, int depth,
                    int columns) {
  int k = 0;
  for (; k + 4 <= depth; k += 4) {
    const double a = panel[k], b = panel[k + 1], c = panel[k + 2], d = panel[k + 3];
    const double* const t = transposed + k * stride;
    CGPO_INDEPENDENT
    for (int j = 0; j < columns; ++j) {
      row[j] -= (a * t[j] + b * t[stride + j]) + (c * t[2 * stride + j] + d * t[3 * stride + j]);
    }
  }
  for (; k < depth; ++k) {
    const double a = panel[k];
    const double* const t = transposed + k * stride;
    CGPO_INDEPENDENT
    for (int j = 0; j < columns; ++j) row[j] -= a * t[j];
  }
}

}  // namespace cgpo::CGPO_ISA
