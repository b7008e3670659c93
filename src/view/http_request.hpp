// A request to the live view, read from bytes that anyone on this machine may have sent.
#pragma once

#include <cstddef>
#include <string_view>

namespace cgpo {

constexpr std::size_t kLongestRequest = 8192;  // bytes; a browser's has some hundred

// Points into the bytes that it was read from.
struct HttpRequest {
  bool head = false;       // HEAD: the answer without its content
  std::string_view path;   // from the '/' to the '?', as it came: nothing in it is decoded
  std::string_view query;  // what follows the '?'
  std::string_view host;   // empty: it names none
};

struct ParsedRequest {
  enum class State { kIncomplete, kWhole, kRefused };
  State state = State::kIncomplete;
  int status = 0;  // of the answer to one that is refused
  HttpRequest request = {};
};

// HTTP/1.0 and 1.1, GET and HEAD without a body. What is no request is refused as soon as that can be seen, what is
// longer than kLongestRequest even before its end.
ParsedRequest parse_request(std::string_view bytes);

// N of NAME=N in a query; 0 if there is none, or if it is no whole number below 10⁹.
std::size_t number_in(std::string_view query, std::string_view name);

}  // namespace cgpo
