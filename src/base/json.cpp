#include "cgpo/base/json.hpp"

namespace cgpo {
namespace {

constexpr int kDeepest = 64;

// Brackets inside of strings do not count. What is no JSON at all may be misread; the parser refuses it.
bool is_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

Json parse_json(std::string_view text) {
  if (is_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace cgpo
