#include "cgpo/nn/adam.hpp"

#include <gtest/gtest.h>

#include "batches.hpp"

namespace cgpo {
namespace {

TEST(Adam, FollowsASequenceWorkedByHand) {
  // g = 1, then -2, rate 0.1, p = 0 at the start.
  // t=1: m = .1, v = .001; m/(1-.9) = 1, sqrt(v/(1-.999)) = 1: p = -0.1.
  // t=2: m = .09 - .2 = -.11, v = .000999 + .004 = .004999; m/(1-.81) = -.5789473684, v/(1-.998001) = 2.5007503752,
  //      sqrt = 1.5813761009, quotient -.3661035252: p = -0.1 + .03661035252.
  Adam<double> adam(1);
  double p = 0.0;
  const double first = 1.0, second = -2.0;
  adam.step(std::span(&p, 1), std::span(&first, 1), 0.1);
  EXPECT_NEAR(p, -0.1, 1e-8);
  adam.step(std::span(&p, 1), std::span(&second, 1), 0.1);
  EXPECT_NEAR(p, -0.1 + 0.03661035252, 1e-8);
}

TEST(Adam, FloatFollowsDouble) {
  const int count = 37;
  Adam<float> single(count);
  Adam<double> twice(count);
  std::vector<float> p = random_vector<float>(count, 1);
  std::vector<double> q(p.begin(), p.end());
  for (std::uint32_t step = 0; step < 50; ++step) {
    const auto gradient = random_vector<double>(count, 100 + step);
    single.step(p, gradient, 0.01);
    twice.step(q, gradient, 0.01);
  }
  EXPECT_LT(relative_error(p, q), 1e-6);
}

TEST(Adam, ContinuesBitForBitAfterLoading) {
  const int count = 19;
  Adam<float> adam(count);
  std::vector<float> p = random_vector<float>(count, 2);
  for (std::uint32_t step = 0; step < 7; ++step) adam.step(p, random_vector<double>(count, step), 0.01);
  Tensors tensors;
  adam.save(tensors, "opt");
  Adam<float> loaded(count);
  loaded.load(tensors, "opt");
  std::vector<float> q = p;
  const auto gradient = random_vector<double>(count, 50);
  adam.step(p, gradient, 0.01);
  loaded.step(q, gradient, 0.01);
  EXPECT_EQ(p, q);
}

}  // namespace
}  // namespace cgpo
