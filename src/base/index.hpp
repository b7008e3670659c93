// Sizes and numbers are ints here, as differences and loops backwards want them; containers want std::size_t.
#pragma once

#include <cstddef>

namespace cgpo {

constexpr std::size_t at(std::ptrdiff_t index) { return static_cast<std::size_t>(index); }

}  // namespace cgpo
