// Our smooth dynamics beside MuJoCo's, of an MJCF text.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "cgpo/physics/mujoco/engine.hpp"

namespace cgpo::testing {

// leave_out: the text has elements that are not supported, and the rest is compared.
inline void expect_as_mujoco(const std::string& xml, bool leave_out = false) {
  const Model model = load_model_from_text(xml);
  EXPECT_EQ(model.unsupported.empty(), !leave_out) << xml;
  MujocoEngine engine = MujocoEngine::from_text(xml);
  if (leave_out) engine.leave_out_unsupported();
  const ModelComparison error = compare_with_mujoco(model, engine, 100, 1);
  EXPECT_LT(error.mass_matrix, 1e-12) << xml;
  EXPECT_LT(error.bias, 1e-12) << xml;
  EXPECT_LT(error.passive, 1e-12) << xml;
  EXPECT_LT(error.acceleration, 1e-10) << xml;
}

}  // namespace cgpo::testing
