// The MJCF files of models/, built into the library.
#pragma once

#include <string_view>

namespace cgpo {

// The text of models/NAME.xml. UserError, naming those there are, if there is none.
std::string_view model_text(std::string_view name);

}  // namespace cgpo
