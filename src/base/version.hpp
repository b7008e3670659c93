// Which program this is. The number comes from the project's CMakeLists.txt.
#pragma once

namespace cgpo {

inline constexpr const char* kVersion = "cgpo " CGPO_VERSION;

}  // namespace cgpo
