// Text for people: what was probably meant, durations, rates, and how foreign text is shown.
#pragma once

#include <cstddef>
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

bool is_utf8(std::string_view text);

// Text that may be anybody's (a name out of a file, what another program said), so that it says to a terminal what it
// says to an editor: control characters, what turns the direction of writing, and bytes that are no UTF-8 are written
// out (\n, \x1b, \u009b). Everything else stays as it is.
std::string printable(std::string_view text);
// The same for text of several lines: newlines and tabs stay.
std::string printable_lines(std::string_view text);

// At most so many characters of UTF-8 text, none of them cut.
std::string_view first_characters(std::string_view text, std::size_t count);

}  // namespace cgpo
