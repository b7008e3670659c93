// JSON whose objects keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace cgpo {

using Json = nlohmann::ordered_json;

// For text that somebody else may have written: discarded (is_discarded()) if it is not JSON, or nested deeper than
// anything that we write, which could exhaust the stack.
Json parse_json(std::string_view text);

}  // namespace cgpo
