// All that an algorithm has learned, to compare bit by bit.
#pragma once

#include <gtest/gtest.h>

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

}  // namespace cgpo::testing
