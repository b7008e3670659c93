#include "cgpo/kernel/peak.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <thread>

#include "cgpo/base/cpu.hpp"

namespace cgpo {

#ifdef CGPO_X86
namespace avx2 {
float multiply_add(long count);
}
namespace avx512 {
float multiply_add(long count);
}
#endif

double multiply_adds_per_second(Backend backend) {
#ifdef CGPO_X86
  backend = resolve_backend(backend);
  if (backend == Backend::kInterpreter) return 0.0;
  using Clock = std::chrono::steady_clock;
  const bool wide = backend == Backend::kAvx512;
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
#else
  static_cast<void>(backend);
  return 0.0;
#endif
}

std::string cpu_description() {
  std::string name = "unknown CPU";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  }
  return fmt::format("{}, {} cores, {}", name, std::max(1U, std::thread::hardware_concurrency()), isa_name(best_isa()));
}

}  // namespace cgpo
