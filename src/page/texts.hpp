// Private to this folder: the files of the page, built into the library.
#pragma once

#include <span>
#include <string_view>

namespace cgpo {

std::string_view page_text(std::string_view name);
std::span<const std::string_view> page_scripts();  // names, in the order in which they are read

}  // namespace cgpo
