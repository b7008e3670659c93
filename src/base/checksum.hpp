// Whether bytes are what they were: XXH64 (https://xxhash.com, seed 0), eight bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cgpo {

std::uint64_t checksum(std::span<const std::byte> bytes);
std::string checksum_text(std::span<const std::byte> bytes);  // 16 hexadecimal digits
std::string checksum_text(std::string_view text);

}  // namespace cgpo
