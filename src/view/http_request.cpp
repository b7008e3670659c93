#include "cgpo/view/http_request.hpp"

#include <algorithm>
#include <charconv>

namespace cgpo {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

ParsedRequest refused(int status) { return {.state = ParsedRequest::State::kRefused, .status = status}; }

// Lines end in CR LF, and neither of them stands alone; the CR may be the last byte so far.
bool is_text(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte == '\r' && i + 1 < bytes.size() && bytes[i + 1] != '\n') return false;
    if (byte == '\n' && (i == 0 || bytes[i - 1] != '\r')) return false;
    const bool control = (byte < 0x20 && byte != '\t' && byte != '\r' && byte != '\n') || byte == 0x7f;
    if (control) return false;
  }
  return true;
}

bool is_token(std::string_view word) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto allowed = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  };
  return !word.empty() && std::all_of(word.begin(), word.end(), allowed);
}

bool is_target(std::string_view word) {
  return word.starts_with('/') && std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// Names of header fields are the same in capitals.
bool same_name(std::string_view name, std::string_view wanted) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(),
                    [&](char a, char b) { return small(a) == b; });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The text up to a mark, which goes with it; all of it if there is none.
std::string_view cut_at(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return part;
}

// "METHOD TARGET HTTP/1.1". Returns the status of a refusal, 0: none.
int read_request_line(std::string_view line, HttpRequest& request) {
  if (std::count(line.begin(), line.end(), ' ') != 2) return 400;
  const std::string_view method = cut_at(line, " ");
  std::string_view target = cut_at(line, " ");
  if (!is_token(method) || !is_target(target)) return 400;
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return 400;
  if (method != "GET" && method != "HEAD") return 405;
  request.head = method == "HEAD";
  request.path = cut_at(target, "?");
  request.query = target;
  return 0;
}

int read_fields(std::string_view lines, HttpRequest& request) {
  bool has_host = false;
  while (!lines.empty()) {
    std::string_view value = cut_at(lines, kLineEnd);
    if (value.find(':') == std::string_view::npos) return 400;
    const std::string_view name = cut_at(value, ":");
    value = without_blanks(value);
    if (!is_token(name)) return 400;
    if (same_name(name, "host")) {
      if (has_host) return 400;
      has_host = true;
      request.host = value;
    }
    // Nothing here takes a body, and the end of one that is sent all the same is not looked for.
    if (same_name(name, "transfer-encoding") || (same_name(name, "content-length") && value != "0")) return 400;
  }
  return 0;
}

}  // namespace

ParsedRequest parse_request(std::string_view bytes) {
  const std::string_view known = bytes.substr(0, kLongestRequest);
  const std::size_t end = known.find("\r\n\r\n");
  const bool whole = end != std::string_view::npos;
  std::string_view lines = whole ? known.substr(0, end + kLineEnd.size()) : known;
  if (!is_text(lines)) return refused(400);
  if (!whole) return bytes.size() >= kLongestRequest ? refused(431) : ParsedRequest{};
  ParsedRequest parsed{.state = ParsedRequest::State::kWhole};
  if (const int status = read_request_line(cut_at(lines, kLineEnd), parsed.request); status != 0) {
    return refused(status);
  }
  if (const int status = read_fields(lines, parsed.request); status != 0) return refused(status);
  return parsed;
}

std::size_t number_in(std::string_view query, std::string_view name) {
  constexpr std::size_t kMostDigits = 9;
  while (!query.empty()) {
    std::string_view value = cut_at(query, "&");
    if (cut_at(value, "=") != name) continue;
    std::size_t number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool good = error == std::errc() && rest == value.data() + value.size() && value.size() <= kMostDigits;
    return good ? number : 0;
  }
  return 0;
}

}  // namespace cgpo
