// Requests to the live view. Bytes may come one by one: what a prefix is refused for, no more bytes make good.
#include "cgpo/view/http_request.hpp"

#include "fuzz.hpp"

using namespace cgpo;
using State = ParsedRequest::State;

CGPO_FUZZ(input) {
  const ParsedRequest whole = parse_request(input);
  fuzz::require((whole.state == State::kRefused) == (whole.status >= 400), "a refusal has a status");
  fuzz::require(whole.state != State::kIncomplete || input.size() <= kLongestRequest,
                "nothing is waited for without end");
  const auto inside = [&](std::string_view part) {
    return part.empty() || (part.data() >= input.data() && part.data() + part.size() <= input.data() + input.size());
  };
  const HttpRequest& request = whole.request;
  fuzz::require(inside(request.path) && inside(request.query) && inside(request.host), "all parts are of the request");
  if (whole.state == State::kWhole) {
    fuzz::require(request.path.starts_with('/'), "a path is absolute");
    fuzz::require(number_in(request.query, "from") < 1'000'000'000, "a number is within its bounds");
  }
  const ParsedRequest half = parse_request(input.substr(0, input.size() / 2));
  fuzz::require(half.state != State::kRefused || whole.state == State::kRefused, "a refused prefix stays refused");
}
