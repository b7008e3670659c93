// Private to this folder: the one door to the screen. Names out of files and what other programs say may hold anything;
// they arrive as text, never as orders to the terminal.
#pragma once

#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cgpo/base/json.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {

template <class Argument>
decltype(auto) shown(const Argument& argument) {
  if constexpr (std::is_convertible_v<const Argument&, std::string_view>) {
    return printable(argument);
  } else {
    return (argument);
  }
}

// fmt::print, with every text among the arguments made printable.
template <class... Arguments>
void say(std::FILE* stream, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = [&](const auto&... all) {
    return fmt::vformat(format, fmt::make_format_args(all...));
  }(shown(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stream);
}
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say(stdout, format, std::forward<Arguments>(arguments)...);
}

// Text that consists of lines, a table for one.
inline void say_lines(std::FILE* stream, std::string_view text) {
  const std::string clean = printable_lines(text);
  std::fwrite(clean.data(), 1, clean.size(), stream);
}
inline void say_lines(std::string_view text) { say_lines(stdout, text); }

inline void say_json(const Json& json) {
  const std::string text = json_text(json) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace cgpo
