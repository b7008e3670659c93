// JSON whose objects keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace cgpo {

using Json = nlohmann::ordered_json;

// For text that somebody else may have written: discarded (is_discarded()) if it is not JSON, or nested deeper than
// anything that we write, which could exhaust the stack.
Json parse_json(std::string_view text);
// As text, on one line unless `indent` says otherwise. Names need not be UTF-8, but JSON is: what is not is replaced.
// Control characters are written out, those above ASCII too, so that it can be shown on a terminal.
std::string json_text(const Json& json, int indent = -1);

}  // namespace cgpo
