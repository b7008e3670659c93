// How deep a TOML text goes.
#pragma once

#include <string_view>

namespace cgpo {

// What no configuration comes near. Reading a table and taking it down calls itself once a level: a key of 30,000 dots
// would run out of stack.
inline constexpr int kDeepestToml = 32;

// The line in which more than kDeepestToml brackets are open, or a key has more dots; 0: none. Quotes and comments are
// passed over. Where the text is no TOML, what follows may be misjudged, but a parser does not come there.
int line_too_deep(std::string_view toml);

}  // namespace cgpo
