// decode_base64, and that it undoes encode_base64.
#include "cgpo/base/base64.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  fuzz::accepted([&] { return decode_base64(input); });
  const std::string text = encode_base64(std::as_bytes(std::span(input)));
  fuzz::require(decode_base64(text) == input, "what was encoded is decoded to the same bytes");
}
