// What can run a kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cgpo {

enum class Backend : std::uint8_t {
  kBest,         // the fastest that the CPU has
  kInterpreter,  // the reference, on any CPU
  kAvx2,         // machine code for 256-bit vectors with fused multiply–add
  kAvx512,       // machine code for 512-bit vectors
};

// "best", "interpreter", "avx2", "avx512".
std::string_view backend_name(Backend backend);

// All that run here, slowest first; kBest is not one of them.
std::vector<Backend> available_backends();

// kBest made definite. UserError, naming those available, if this CPU or build has not what is asked for.
Backend resolve_backend(Backend backend);

}  // namespace cgpo
