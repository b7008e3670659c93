// Keys that files of older versions have and this one does not, and the other way round.
#pragma once

#include <string_view>
#include <vector>

#include "cgpo/config/value.hpp"

namespace cgpo {

// A key that there was once: what took its place, as the end of a sentence that begins with its name.
struct RetiredKey {
  std::string_view name;
  std::string_view successor;
};

const RetiredKey* find_retired_key(std::string_view name);  // null: there was none

// A run's file as this version would have written it: without retired keys, and with those that came later at the value
// that does as versions did that did not have them, so that a run goes on as it began.
std::vector<Assignment> brought_up_to_date(std::vector<Assignment> file);

}  // namespace cgpo
