// JSON whose objects keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace cgpo {

using Json = nlohmann::ordered_json;

}  // namespace cgpo
