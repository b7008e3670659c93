// The bounds hold, and the curvature is that of J.
#include "cgpo/studies/worst_case.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"

#include "small_task.hpp"

namespace cgpo {
namespace {

TEST(WorstCase, BoundsHoldForAnUpdateOfATraining) {
  ThreadPool pool(1);
  const AlgorithmContext context = small_function(pool, 10, 0.3);
  const std::vector<Tensors> states = training_stages(context, find_algorithm("cgpo"), {2, 3}, no_tick);
  const double radius = states[1].number("radius.value");
  const WorstCase bounds = worst_case(context, states[0], states[1], radius, {.points = 2, .products = 10}, no_tick);
  EXPECT_GT(bounds.length_squared, 0.0);
  EXPECT_LE(bounds.length_squared, radius * 1.001);  // in the coordinates of the first, whatever the normaliser did
  EXPECT_GT(bounds.curvature_cost, 0.0);
  EXPECT_NEAR(bounds.curvature_cost / bounds.curvature_return, 1.0, 1e-3);  // reward and cost are the same here
  EXPECT_LE(std::abs(bounds.cost_after - bounds.cost_predicted), bounds.cost_error_bound());
  EXPECT_GE(bounds.return_change, bounds.return_bound());
}

}  // namespace
}  // namespace cgpo
