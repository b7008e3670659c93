// All that an algorithm has learned, to compare bit by bit.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "cgpo/updates/algorithm.hpp"

namespace cgpo::testing {

inline Tensors state_of(const Algorithm& algorithm) {
  Tensors tensors;
  algorithm.save(tensors);
  return tensors;
}

inline void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (const auto& [name, tensor] : a.entries) EXPECT_EQ(tensor.bytes, b.entries.at(name).bytes) << name;
}

// Of a suite that runs for every algorithm: names of tests take no dashes.
inline std::string algorithm_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace cgpo::testing
