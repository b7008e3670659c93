#include "cgpo/kernel/backend.hpp"

#include <algorithm>

#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"
#ifdef CGPO_X86
#include <array>
#include <system_error>

#include "cgpo/kernel/executable_memory.hpp"
#endif

namespace cgpo {
namespace {

#ifdef CGPO_X86
// Hardened systems refuse to make memory executable that was written to.
bool may_run_own_code() {
  static const bool allowed = [] {
    constexpr std::array kReturn = {std::byte{0xc3}};
    try {
      const ExecutableMemory memory(kReturn);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }();
  return allowed;
}
#endif

}  // namespace

std::string_view backend_name(Backend backend) {
  switch (backend) {
    case Backend::kInterpreter: return "interpreter";
    case Backend::kAvx2: return "avx2";
    case Backend::kAvx512: return "avx512";
    default: return "best";
  }
}

std::vector<Backend> available_backends() {
  std::vector<Backend> backends = {Backend::kInterpreter};
#ifdef CGPO_X86  // a portable build has no machine code, whatever the CPU
  if (!may_run_own_code()) return backends;
  if (best_isa() >= Isa::kAvx2) backends.push_back(Backend::kAvx2);
  if (best_isa() >= Isa::kAvx512) backends.push_back(Backend::kAvx512);
#endif
  return backends;
}

Backend resolve_backend(Backend backend) {
  const std::vector<Backend> available = available_backends();
  if (backend == Backend::kBest) return available.back();
  if (std::find(available.begin(), available.end(), backend) != available.end()) return backend;
  std::string names;
  for (const Backend name : available) names += fmt::format("{}{}", names.empty() ? "" : ", ", backend_name(name));
  throw UserError("kernel.backend = {} does not run on this machine, which has: best, {}", backend_name(backend),
                  names);
}

}  // namespace cgpo
