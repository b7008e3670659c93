// MJCF texts: which elements there are, what stands inside which, and what an attribute may be is in tables; bytes
// choose.
#pragma once

#include <string>
#include <string_view>

namespace cgpo::fuzz {

// The same bytes give the same text; none give a small robot that is sound.
std::string write_mjcf(std::string_view bytes);

}  // namespace cgpo::fuzz
