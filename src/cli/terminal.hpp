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

// Prints and flushes. If that fails, because the reader of a pipe has gone, the terminal was closed or a disk is full,
// the stream leads nowhere from then on: hours of work do not end because nobody listens.
void write_out(std::FILE* stream, std::string_view text);

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
  write_out(stream, [&](const auto&... all) {
    return fmt::vformat(format, fmt::make_format_args(all...));
  }(shown(arguments)...));
}
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say(stdout, format, std::forward<Arguments>(arguments)...);
}

// Text that consists of lines, a table for one.
inline void say_lines(std::FILE* stream, std::string_view text) { write_out(stream, printable_lines(text)); }
inline void say_lines(std::string_view text) { say_lines(stdout, text); }

inline void say_json(const Json& json) { write_out(stdout, json_text(json) + "\n"); }

}  // namespace cgpo
