// Bytes as text, and back.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cgpo {

std::string encode_base64(std::span<const std::byte> bytes);
// Throws UserError if it is not base64.
std::string decode_base64(std::string_view text);

}  // namespace cgpo
