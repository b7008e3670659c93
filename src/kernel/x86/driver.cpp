#include "cgpo/kernel/driver.hpp"
#ifdef CGPO_X86
#include <array>
#include <system_error>

#include "cgpo/base/cpu.hpp"
#include "cgpo/kernel/x86/executable_memory.hpp"
#include "cgpo/kernel/x86/fma_peak.hpp"
#include "cgpo/kernel/x86/machine_kernel.hpp"
#endif

namespace cgpo {

#ifdef CGPO_X86
namespace {

// Hardened systems refuse to make memory executable that was written to.
bool may_run_own_code() {
  constexpr std::array kReturn = {std::byte{0xc3}};
  try {
    const ExecutableMemory memory(kReturn);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

template <Isa isa>
BackendDriver machine_code(int preference) {
  return {.preference = preference,
          .available = [] { return best_isa() >= isa && may_run_own_code(); },
          .make_float = [](const Graph& lowered) -> std::unique_ptr<Kernel<float>> {
            return std::make_unique<MachineKernel<float>>(lowered, isa);
          },
          .make_double = [](const Graph& lowered) -> std::unique_ptr<Kernel<double>> {
            return std::make_unique<MachineKernel<double>>(lowered, isa);
          },
          .multiply_adds_per_second = [] { return measure_multiply_adds(isa); }};
}

}  // namespace

BackendDriver avx2_driver() { return machine_code<Isa::kAvx2>(1); }
BackendDriver avx512_driver() { return machine_code<Isa::kAvx512>(2); }
#else
// A portable build has no machine code, whatever the CPU.
BackendDriver avx2_driver() {
  return {.available = [] { return false; }};
}
BackendDriver avx512_driver() { return avx2_driver(); }
#endif

}  // namespace cgpo
