#include "cgpo/base/arithmetic.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <numbers>

namespace cgpo {
namespace {

// FNV-1a over the results at arguments that spread over the ranges in which the functions are used.
std::uint64_t hash_of_results() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](double value) { hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3; };
  double turn = 0.5;  // a low-discrepancy sequence in (0, 1)
  for (int i = 0; i < 4096; ++i) {
    turn += std::numbers::phi - 1.0;
    turn -= std::floor(turn);
    add(std::log(turn));
    add(std::exp(8.0 * turn - 6.0));
    add(std::sin(2.0 * std::numbers::pi * turn));
    add(std::cos(2.0 * std::numbers::pi * turn));
    add(std::atan2(turn, 0.5 - turn));
  }
  return hash;
}

}  // namespace

const std::string& arithmetic_fingerprint() {
  static const std::string fingerprint = fmt::format("{:016x}", hash_of_results());
  return fingerprint;
}

}  // namespace cgpo
