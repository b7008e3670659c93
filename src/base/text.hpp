// Text for people: what was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpo {

// " (did you mean 'x'?)" if one of the known words is close to `word`, else nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace cgpo
