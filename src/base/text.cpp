#include "cgpo/base/text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace cgpo {
namespace {

// Levenshtein's distance, letters of either case alike.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      const std::size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// A character at the front of a text. Bytes that are no UTF-8 (overlong forms and surrogates among them) are taken one
// by one.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character front_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {first};
  char32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {first};
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // by the number of bytes
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {first};
  return {code, bytes, true};
}

// What a terminal obeys or that hides other text: C0, DEL, C1; marks, embeddings, overrides and isolates of direction;
// separators of lines and paragraphs.
bool acts_on_a_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string written_out(const Character& character) {
  if (character.valid && character.code == '\n') return "\\n";
  if (character.valid && character.code == '\r') return "\\r";
  if (character.valid && character.code == '\t') return "\\t";
  const auto code = static_cast<unsigned>(character.code);
  return character.valid && code >= 0x80 ? fmt::format("\\u{:04x}", code) : fmt::format("\\x{:02x}", code);
}

std::string made_printable(std::string_view text, std::string_view kept) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = front_character(text);
    const bool stays = character.valid && (!acts_on_a_terminal(character.code) || kept.find(text[0]) != kept.npos);
    if (stays) {
      result += text.substr(0, character.bytes);
    } else {
      result += written_out(character);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (const std::size_t d = distance(word, candidate); d < least) {
      least = d;
      best = &candidate;
    }
  }
  return best == nullptr ? std::string() : fmt::format(" (did you mean '{}'?)", *best);
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 10.0) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string format_rate(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f}M", per_second * 1e-6);
  if (per_second >= 1e3) return fmt::format("{:.1f}k", per_second * 1e-3);
  return fmt::format("{:.0f}", per_second);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character character = front_character(text);
    if (!character.valid) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::string printable(std::string_view text) { return made_printable(text, ""); }

std::string printable_lines(std::string_view text) { return made_printable(text, "\n\t"); }

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end < text.size(); --count) end += front_character(text.substr(end)).bytes;
  return text.substr(0, end);
}

}  // namespace cgpo
