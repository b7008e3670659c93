// What can run a kernel, as backends.def lists it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cgpo {

enum class Backend : std::uint8_t {
  kBest,  // of those available the one that is preferred: the fastest that the CPU has
#define CGPO_BACKEND(id, ...) id,
#include "cgpo/kernel/backends.def"
};

// "best", "interpreter", "avx2", "avx512".
std::string_view backend_name(Backend backend);

// All rows of the table, whether they run here or not; kBest is not one of them.
std::vector<Backend> known_backends();

// Those that run here.
std::vector<Backend> available_backends();

// kBest made definite. UserError, naming those available, if this CPU or build has not what is asked for.
Backend resolve_backend(Backend backend);

}  // namespace cgpo
