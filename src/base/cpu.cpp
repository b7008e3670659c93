#include "cgpo/base/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace cgpo {
namespace {

Isa detect() {
#ifdef CGPO_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return Isa::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::kAvx2;
#endif
  return Isa::kBaseline;
}

}  // namespace

Isa best_isa() {
  static const Isa isa = [] {
    const char* wish = std::getenv("CGPO_ISA");
    const Isa have = detect();
    if (wish == nullptr) return have;
    for (const Isa candidate : {Isa::kBaseline, Isa::kAvx2}) {
      if (std::string_view(wish) == isa_name(candidate)) return std::min(candidate, have);
    }
    return have;
  }();
  return isa;
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kBaseline: return "baseline";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
  }
  return "unknown";
}

}  // namespace cgpo
