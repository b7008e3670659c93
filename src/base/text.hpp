// Text for people: what was probably meant, durations, rates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpo {

// " (did you mean 'x'?)" if one of the known words is close to `word`, else nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// Without blanks and tabs at its ends.
std::string trimmed(const std::string& text);

std::string format_duration(double seconds);  // 42s, 3m05s, 2h07m

std::string format_rate(double per_second);  // 12.3k, 1.25M

std::string number_or_unknown(double value);  // five digits; of a NaN, unknown

}  // namespace cgpo
