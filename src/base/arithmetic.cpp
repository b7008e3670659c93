#include "cgpo/base/arithmetic.hpp"

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "cgpo/base/checksum.hpp"

namespace cgpo {
namespace {

// At arguments that spread over the ranges in which the functions are used.
std::vector<double> results() {
  std::vector<double> values;
  double turn = 0.5;  // a low-discrepancy sequence in (0, 1)
  for (int i = 0; i < 4096; ++i) {
    turn += std::numbers::phi - 1.0;
    turn -= std::floor(turn);
    values.insert(values.end(), {std::log(turn), std::exp(8.0 * turn - 6.0), std::sin(2.0 * std::numbers::pi * turn),
                                 std::cos(2.0 * std::numbers::pi * turn), std::atan2(turn, 0.5 - turn)});
  }
  return values;
}

}  // namespace

const std::string& arithmetic_fingerprint() {
  static const std::string fingerprint = checksum_text(std::as_bytes(std::span<const double>(results())));
  return fingerprint;
}

}  // namespace cgpo
