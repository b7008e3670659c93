#include "cgpo/base/nesting.hpp"

#include <algorithm>
#include <cstddef>

namespace cgpo {
namespace {

// Behind the quotes that open at `at`: "…", '…', or three of either around lines.
std::size_t behind_quotes(std::string_view toml, std::size_t at) {
  const char quote = toml[at];
  const bool long_form = toml.substr(at, 3) == std::string_view(quote == '"' ? "\"\"\"" : "'''");
  const std::string_view end = toml.substr(at, long_form ? 3 : 1);
  for (at += end.size(); at < toml.size(); ++at) {
    if (quote == '"' && toml[at] == '\\') {
      ++at;
    } else if (toml.substr(at, end.size()) == end) {
      return at + end.size();
    } else if (!long_form && toml[at] == '\n') {
      return at;
    }
  }
  return toml.size();
}

}  // namespace

int line_too_deep(std::string_view toml) {
  int brackets = 0;
  int dots = 0;  // since something that no key goes across
  for (std::size_t at = 0; at < toml.size();) {
    switch (toml[at]) {
      case '"':
      case '\'': at = behind_quotes(toml, at); continue;
      case '#': at = std::min(toml.find('\n', at), toml.size()); continue;
      case '.': ++dots; break;
      case '[':
      case '{':
        ++brackets;
        dots = 0;
        break;
      case ']':
      case '}':
        --brackets;
        dots = 0;
        break;
      case '=':
      case ',':
      case '\n': dots = 0; break;
      default: break;  // part of a word, a number or a blank
    }
    if (brackets > kDeepestToml || dots > kDeepestToml) {
      return 1 + static_cast<int>(std::count(toml.begin(), toml.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
    ++at;
  }
  return 0;
}

}  // namespace cgpo
