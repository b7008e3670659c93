// Traced values and the life of their graph.
#include "cgpo/graph/traced.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <utility>

#include "cgpo/graph/evaluate.hpp"
#include "cgpo/graph/solve.hpp"

namespace cgpo {
namespace {

TEST(Traced, FollowsAGraphThatIsMoved) {
  auto first = std::make_unique<Graph>();
  const auto x = trace_inputs(*first, 1);
  const Traced square = x[0] * x[0];
  Graph second = std::move(*first);
  first.reset();
  const Traced cube = square * x[0];
  Graph third;
  third = std::move(second);
  trace_output(third, cube + 1.0);
  EXPECT_EQ(cube.graph(), &third);
  EXPECT_EQ(evaluate(third, std::vector{3.0})[0], 28.0);
}

TEST(Traced, FollowsGraphsOfAListThatGrows) {
  std::vector<Graph> graphs;
  std::vector<Traced> values;
  for (int i = 0; i < 20; ++i) {
    graphs.emplace_back();
    values.push_back(trace_inputs(graphs.back(), 1)[0]);
  }
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    trace_output(graphs[i], values[i] + static_cast<double>(i));
    EXPECT_EQ(evaluate(graphs[i], std::vector{1.0})[0], 1.0 + static_cast<double>(i));
  }
}

TEST(Traced, StaysWithTheOriginalOfACopy) {
  Graph original;
  const auto x = trace_inputs(original, 1);
  Graph copy = original;
  trace_output(original, x[0] * 2.0);
  EXPECT_EQ(copy.outputs().size(), 0U);
  EXPECT_THROW(trace_output(copy, x[0]), std::logic_error);
}

TEST(Traced, IsAnErrorWhenItsGraphIsGone) {
  std::optional<Graph> graph(std::in_place);
  const auto x = trace_inputs(*graph, 1);
  graph.reset();
  Graph other;
  EXPECT_THROW(x[0] + 1.0, std::logic_error);
  EXPECT_THROW(x[0].graph(), std::logic_error);
  EXPECT_THROW(x[0].is_structural_zero(), std::logic_error);
  EXPECT_THROW(trace_output(other, x[0]), std::logic_error);
}

TEST(Traced, IsAnErrorWhenItsGraphIsOverwritten) {
  for (const bool moved : {false, true}) {
    Graph graph;
    const auto x = trace_inputs(graph, 1);
    Graph other;
    const auto y = trace_inputs(other, 2);
    if (moved) {
      graph = std::move(other);
      EXPECT_EQ(y[1].graph(), &graph);
    } else {
      graph = other;
      EXPECT_EQ(y[1].graph(), &other);
    }
    EXPECT_THROW(x[0] + 1.0, std::logic_error);
  }
}

TEST(Traced, SurvivesAssigningAGraphToItself) {
  Graph graph;
  const auto x = trace_inputs(graph, 1);
  Graph& same = graph;
  graph = same;
  EXPECT_EQ(x[0].graph(), &graph);
}

TEST(Traced, IsAnErrorInAnotherGraph) {
  Graph graph;
  Graph other;
  const auto x = trace_inputs(graph, 1);
  const auto y = trace_inputs(other, 1);
  EXPECT_THROW(x[0] * y[0], std::logic_error);
  EXPECT_THROW(trace_output(other, x[0]), std::logic_error);
  EXPECT_THROW(x[0].id_in(other), std::logic_error);
  SymmetricMatrix<Traced> matrix(2);
  matrix(0, 0) = x[0];
  matrix(1, 1) = Traced(1.0);
  const std::vector<Traced> rhs = {Traced(1.0), y[0]};
  EXPECT_THROW(solve_symmetric(matrix, rhs), std::logic_error);
}

// The graph may go first: destructors of values do not touch it.
TEST(Traced, MayOutliveItsGraphUnused) {
  std::vector<Traced> values;
  {
    Graph graph;
    values = trace_inputs(graph, 3);
  }
  const std::vector<Traced> copies = values;
  EXPECT_EQ(copies.size(), 3U);
}

}  // namespace
}  // namespace cgpo
