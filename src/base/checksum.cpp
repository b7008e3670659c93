#include "cgpo/base/checksum.hpp"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace cgpo {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

constexpr std::uint64_t kPrimes[] = {0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                                     0x27D4EB2F165667C5};

template <class Word>
Word take(std::span<const std::byte>& bytes) {
  Word word = 0;
  std::memcpy(&word, bytes.data(), sizeof(word));
  bytes = bytes.subspan(sizeof(word));
  return word;
}

std::uint64_t mix(std::uint64_t sum, std::uint64_t word) { return std::rotl(sum + word * kPrimes[1], 31) * kPrimes[0]; }

std::uint64_t merge(std::uint64_t sum, std::uint64_t lane) { return (sum ^ mix(0, lane)) * kPrimes[0] + kPrimes[3]; }

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  std::uint64_t sum = kPrimes[4];
  if (size >= 32) {
    std::uint64_t lanes[4] = {kPrimes[0] + kPrimes[1], kPrimes[1], 0, 0 - kPrimes[0]};
    while (bytes.size() >= 32) {
      for (std::uint64_t& lane : lanes) lane = mix(lane, take<std::uint64_t>(bytes));
    }
    sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) sum = merge(sum, lane);
  }
  sum += size;
  while (bytes.size() >= 8) {
    sum = std::rotl(sum ^ mix(0, take<std::uint64_t>(bytes)), 27) * kPrimes[0] + kPrimes[3];
  }
  if (bytes.size() >= 4) {
    sum = std::rotl(sum ^ (take<std::uint32_t>(bytes) * kPrimes[0]), 23) * kPrimes[1] + kPrimes[2];
  }
  while (!bytes.empty()) sum = std::rotl(sum ^ (take<std::uint8_t>(bytes) * kPrimes[4]), 11) * kPrimes[0];
  sum = (sum ^ (sum >> 33)) * kPrimes[1];
  sum = (sum ^ (sum >> 29)) * kPrimes[2];
  return sum ^ (sum >> 32);
}

std::string checksum_text(std::span<const std::byte> bytes) { return fmt::format("{:016x}", checksum(bytes)); }

std::string checksum_text(std::string_view text) { return checksum_text(std::as_bytes(std::span(text))); }

}  // namespace cgpo
