// Every row of the table of operations, walked from the first to the last: values against the reference, derivatives
// against differences of the reference.
#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "cgpo/base/random.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/fold.hpp"
#include "cgpo/graph/traced.hpp"

#include "reference_operations.hpp"

namespace cgpo {
namespace {

using testing::is_defined;
using testing::kSpecialValues;
using testing::reference_value;

std::vector<Op> operations(std::initializer_list<OpKind> kinds) {
  std::vector<Op> list;
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (std::find(kinds.begin(), kinds.end(), op_info(op).kind) != kinds.end()) list.push_back(op);
  }
  return list;
}

std::vector<Op> operations_on_numbers() {
  return operations({OpKind::kArithmetic, OpKind::kTranscendental, OpKind::kPrimitive});
}

// The operation on as many of the values as it has operands.
Traced make_node(Op op, const std::vector<Traced>& x) {
  switch (arity(op)) {
    case 1: return Traced::make(op, x[0]);
    case 2: return Traced::make(op, x[0], x[1]);
    case 3: return Traced::make(op, x[0], x[1], x[2]);
    default: throw std::logic_error(std::string("no operands: ") + op_name(op));
  }
}

bool same_value(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(Operations, NamesAndArities) {
  std::set<std::string> names;
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_TRUE(names.insert(op_name(op)).second) << op_name(op) << " stands twice";
    EXPECT_EQ(arity(op) == 0, op == Op::kConstant || op == Op::kInput) << op_name(op);
    EXPECT_LE(arity(op), 3) << op_name(op);
  }
  EXPECT_STREQ(op_name(Op::kLessEqual), "less_equal");
  EXPECT_STREQ(op_name(Op::kLookup), "lookup");
}

template <class Real>
void compare_values(Precision precision) {
  for (const Op op : operations_on_numbers()) {
    for (const double a : kSpecialValues) {
      if (!is_defined(op, static_cast<Real>(a))) continue;
      for (const double b : kSpecialValues) {
        for (const double c : kSpecialValues) {
          const Real expected = reference_value(op, static_cast<Real>(a), static_cast<Real>(b), static_cast<Real>(c));
          ASSERT_TRUE(same_value(fold(op, a, b, c, precision), static_cast<double>(expected)))
              << op_name(op) << " of " << a << ", " << b << ", " << c << ": " << fold(op, a, b, c, precision)
              << " instead of " << expected;
        }
      }
    }
  }
}

TEST(Operations, ValuesInFloat) { compare_values<float>(Precision::kFloat); }
TEST(Operations, ValuesInDouble) { compare_values<double>(Precision::kDouble); }

// Special values tell both: none where the order is free, and one at least where it matters.
TEST(Operations, OrderIsFreeExactlyWhereTheTableSaysSo) {
  for (const Op op : operations_on_numbers()) {
    if (arity(op) < 2) continue;
    bool differs = false;
    for (const double a : kSpecialValues) {
      for (const double b : kSpecialValues) {
        for (const double c : kSpecialValues) {
          differs = differs || !same_value(reference_value(op, a, b, c), reference_value(op, b, a, c));
        }
      }
    }
    EXPECT_EQ(differs, op_info(op).order == OpInfo::Order::kMatters) << op_name(op);
  }
}

// Of the reference, to fourth order.
double difference(Op op, const std::vector<double>& x, const std::vector<double>& direction) {
  const double step = 1e-4;
  const auto at = [&](double s) {
    return reference_value(op, x[0] + s * direction[0], x[1] + s * direction[1], x[2] + s * direction[2]);
  };
  return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
}

TEST(Operations, Derivatives) {
  RandomStream random(2, Purpose::kTest);
  for (const Op op : operations({OpKind::kArithmetic, OpKind::kTranscendental})) {
    Graph graph;
    trace_output(graph, make_node(op, trace_inputs(graph, 3)));
    const Graph reverse = differentiate(graph, {.seeds = {{0}}, .wrt = {0, 1, 2}});
    const Graph forward = differentiate_forward(graph);
    int compared = 0;
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<double> x(3);
      std::vector<double> direction(3);
      for (double& value : x) value = random.uniform(0.2, 1.3) * (trial % 2 == 0 ? 1.0 : -1.0);
      for (double& value : direction) value = random.uniform(-1.0, 1.0);
      const double expected = difference(op, x, direction);
      if (!std::isfinite(expected)) continue;  // the square root of a negative number
      ++compared;
      const std::vector<double> gradient = evaluate(reverse, std::vector{x[0], x[1], x[2], 1.0});
      const double slope = gradient[0] * direction[0] + gradient[1] * direction[1] + gradient[2] * direction[2];
      const double tangent =
          evaluate(forward, std::vector{x[0], x[1], x[2], direction[0], direction[1], direction[2]})[0];
      EXPECT_NEAR(slope, expected, 1e-7 * (1.0 + std::abs(expected))) << op_name(op);
      EXPECT_NEAR(tangent, slope, 1e-12 * (1.0 + std::abs(slope))) << op_name(op);
    }
    EXPECT_GE(compared, 20) << op_name(op);
  }
}

TEST(Operations, PrimitivesAreNotDifferentiated) {
  for (const Op op : operations({OpKind::kPrimitive})) {
    Graph graph;
    trace_output(graph, make_node(op, trace_inputs(graph, 3)));
    EXPECT_THROW(differentiate(graph, {.seeds = {{0}}, .wrt = {0}}), std::logic_error) << op_name(op);
    EXPECT_THROW(differentiate_forward(graph), std::logic_error) << op_name(op);
  }
}

TEST(Operations, RecordsHaveMakersOfTheirOwn) {
  for (const Op op : operations({OpKind::kRecord})) {
    Graph graph;
    const NodeId x = graph.add_input();
    EXPECT_THROW(graph.add(op, x, x, x), std::logic_error) << op_name(op);
  }
}

}  // namespace
}  // namespace cgpo
