// Counter-based random numbers: no state travels through the program, a stream is named by what it is for.
//
// A stream is keyed by (seed, purpose, iteration, environment, step). The five fill key and counter of Threefry-4x32
// without overlap, so two uses that differ in any of them never share a number, and any environment's noise can be
// drawn again, in any order, on any thread.
#pragma once

#include <Random123/threefry.h>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace cgpo {

enum class Purpose : std::uint32_t {
  kPolicyInit = 1,       // initial weights of the policy
  kCriticInit = 2,       // initial weights of the critics; the environment field counts the critics
  kReset = 3,            // start states of training episodes
  kNoise = 4,            // action noise of training episodes
  kWarmupReset = 5,      // start states of the batch that warms up the normaliser
  kWarmupNoise = 6,      // its action noise
  kMinibatch = 7,        // which samples a critic sees; the environment field counts the critics
  kEvalReset = 8,        // start states of evaluation
  kEvalNoise = 9,        // action noise of evaluation
  kCheck = 10,           // states and directions of `cgpo check`
  kTest = 11,            // tests and benchmarks
  kMetric = 12,          // states at which a step is measured
  kShuffle = 13,         // order of a batch's samples in a pass; the environment field counts stages, the step passes
  kStarts = 14,          // start states over which a critic is averaged
  kWorldInit = 20,       // initial weights of a world model; the environment field counts members
  kWorldMinibatch = 21,  // which transitions a member sees
};

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t iteration = 0, std::uint32_t environment = 0,
               std::uint32_t step = 0)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
              static_cast<std::uint32_t>(purpose), iteration}},
        counter_{{environment, step, 0, 0}} {}

  std::uint32_t bits() {
    if (used_ == 4) {
      block_ = threefry4x32(counter_, key_);
      ++counter_.v[2];
      used_ = 0;
    }
    return block_.v[used_++];
  }
  std::uint64_t bits64() {
    const std::uint64_t high = bits();
    return (high << 32) | bits();
  }

  // Uniform in the open interval (0, 1): 53 bits, centred between the grid points, so never 0 and never 1.
  double uniform() {
    const std::uint64_t high = bits() >> 5;
    const std::uint64_t low = bits() >> 6;
    return (static_cast<double>((high << 26) | low) + 0.5) * 0x1p-53;
  }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Uniform in {0 … count-1}; the bias of the multiply-shift is below count / 2^32.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(bits()) * count) >> 32);
  }

  // Standard normal by Box and Muller; the second of each pair is kept for the next call.
  double normal() {
    if (have_spare_) {
      have_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    have_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  threefry4x32_key_t key_;
  threefry4x32_ctr_t counter_;
  threefry4x32_ctr_t block_{};
  int used_ = 4;
  bool have_spare_ = false;
  double spare_ = 0.0;
};

}  // namespace cgpo
