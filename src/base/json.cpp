#include "cgpo/base/json.hpp"

#include <fmt/format.h>

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
  // The parser takes a zero byte for the end of the text, whatever follows.
  if (is_deep(text) || text.find('\0') != std::string_view::npos) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const Json& json, int indent) {
  const std::string text = json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == 0x7f) {
      result += "\\u007f";
    } else if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009f: the text is UTF-8, so a byte follows
      result += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace cgpo
