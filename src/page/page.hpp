// One HTML file that needs nothing else: styles, libraries and scripts inline, and the data that they show.
#pragma once

#include <string>
#include <string_view>

namespace cgpo {

// `json`: one JSON value in UTF-8. Nothing in it can end the script element that carries it. `title` is plain text.
// Without a robot in the data the 3-D library can be left out.
std::string make_page(std::string_view title, std::string_view json, bool with_robot);

}  // namespace cgpo
