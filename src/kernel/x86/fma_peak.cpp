#include "cgpo/kernel/x86/fma_peak.hpp"

#include <algorithm>
#include <chrono>

namespace cgpo {

namespace avx2 {
float multiply_add(long count);
}
namespace avx512 {
float multiply_add(long count);
}

double measure_multiply_adds(Isa isa) {
  using Clock = std::chrono::steady_clock;
  const bool wide = isa == Isa::kAvx512;
  const auto loop = wide ? avx512::multiply_add : avx2::multiply_add;
  constexpr long kCount = 100'000;
  double best = 0.0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto start = Clock::now();
    volatile float keep = loop(kCount);
    static_cast<void>(keep);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 12.0 * static_cast<double>(kCount) * (wide ? 16 : 8) / seconds);
  }
  return best;
}

}  // namespace cgpo
