// Every operation of the table on every backend that runs here, against an evaluation that shares no code with them.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/graph/solve.hpp"
#include "cgpo/graph/traced.hpp"
#include "cgpo/kernel/kernel.hpp"

#include "lanes.hpp"
#include "reference_operations.hpp"

namespace cgpo {
namespace {

using testing::is_defined;
using testing::kSpecialCount;
using testing::kSpecialValues;
using testing::Lanes;
using testing::reference_value;
using testing::same_bits;

// The operation as the only one of a graph with three inputs.
Graph single(Op op, Precision precision) {
  Graph graph(precision);
  const NodeId x[] = {graph.add_input(), graph.add_input(), graph.add_input()};
  graph.add_output(graph.add(op, x[0], arity(op) > 1 ? x[1] : kNoNode, arity(op) > 2 ? x[2] : kNoNode));
  return graph;
}

template <class Real>
std::vector<Real> run(const Graph& graph, Backend backend, Lanes<Real>& in, int lanes) {
  KernelScratch scratch;
  Lanes<Real> out(1, lanes, 1);
  compile<Real>(graph, backend)->run(in.const_rows(), out.rows(), lanes, scratch);
  EXPECT_TRUE(out.guards_intact());
  return {out.rows()[0], out.rows()[0] + lanes};
}

// To the bit, on all combinations of special values.
template <class Real>
void check_exact(Op op, Backend backend) {
  const int lanes = kSpecialCount * kSpecialCount * kSpecialCount;
  Lanes<Real> in(3, lanes, 1);
  for (int l = 0; l < lanes; ++l) {
    in.at(0, l) = static_cast<Real>(kSpecialValues[l % kSpecialCount]);
    in.at(1, l) = static_cast<Real>(kSpecialValues[l / kSpecialCount % kSpecialCount]);
    in.at(2, l) = static_cast<Real>(kSpecialValues[l / kSpecialCount / kSpecialCount]);
  }
  const std::vector<Real> out = run(single(op, precision_of<Real>()), backend, in, lanes);
  for (int l = 0; l < lanes; ++l) {
    if (!is_defined(op, in.at(0, l))) continue;
    const Real expected = reference_value(op, in.at(0, l), in.at(1, l), in.at(2, l));
    ASSERT_TRUE(same_bits(out[static_cast<std::size_t>(l)], expected))
        << op_name(op) << " of " << in.at(0, l) << ", " << in.at(1, l) << ", " << in.at(2, l) << ": "
        << out[static_cast<std::size_t>(l)] << " instead of " << expected;
  }
}

// To a few units in the last place: tests/math says how many exactly.
template <class Real>
void check_close(Op op, Backend backend) {
  constexpr double kSome[] = {-2.75, -1.0, -0.3, -1e-3, 1e-4, 0.7, 1.0, 1.5, 3.25};
  constexpr int kCount = static_cast<int>(std::size(kSome));
  Lanes<Real> in(3, kCount * kCount, 0);
  for (int l = 0; l < kCount * kCount; ++l) {
    in.at(0, l) = static_cast<Real>(kSome[l % kCount]);
    in.at(1, l) = static_cast<Real>(kSome[l / kCount]);
  }
  const std::vector<Real> out = run(single(op, Precision::kExact), backend, in, kCount * kCount);
  for (int l = 0; l < kCount * kCount; ++l) {
    const double expected = reference_value<double>(op, in.at(0, l), in.at(1, l), 0.0);
    const double found = out[static_cast<std::size_t>(l)];
    EXPECT_EQ(std::isnan(found), std::isnan(expected)) << op_name(op) << " of " << in.at(0, l);
    if (std::isnan(expected)) continue;
    EXPECT_NEAR(found, expected, 4.0 * std::numeric_limits<Real>::epsilon() * std::abs(expected))
        << op_name(op) << " of " << in.at(0, l) << ", " << in.at(1, l);
  }
}

constexpr double kTable[] = {3.5, -1.0, 7.25, 0.5, 11.0};

Graph record_graph(Op op, Precision precision) {
  Graph graph(op == Op::kLookup ? precision : Precision::kExact);
  const auto x = trace_inputs(graph, 3);
  switch (op) {
    case Op::kConstant: trace_output(graph, Traced(2.5)); break;
    case Op::kInput: trace_output(graph, x[1]); break;
    case Op::kSolved: {
      SymmetricMatrix<Traced> matrix(2);
      matrix(0, 0) = 4.0 + x[0] * x[0];
      matrix(1, 0) = x[1];
      matrix(1, 1) = Traced(3.0);
      trace_output(graph, solve_symmetric(matrix, std::vector{x[0], x[2]})[0]);
      break;
    }
    case Op::kLookup: {
      const auto table = std::make_shared<const std::vector<double>>(std::begin(kTable), std::end(kTable));
      graph.add_output(graph.add_lookup(table, x[0].id_in(graph)));
      break;
    }
#define CGPO_RECORD(id, ...)  // above
#define CGPO_OTHER(id) case Op::id:
#include "cgpo/graph/operations.def"
      throw std::logic_error("not a record");
  }
  return graph;
}

double record_value(Op op, double a, double b, double c) {
  switch (op) {
    case Op::kConstant: return 2.5;
    case Op::kInput: return b;
    case Op::kSolved: return (3.0 * a - b * c) / (3.0 * (4.0 + a * a) - b * b);  // Cramer's rule
    case Op::kLookup: return kTable[a > 0.0 ? static_cast<int>(std::fmin(a, 4.0)) : 0];
#define CGPO_RECORD(id, ...)  // above
#define CGPO_OTHER(id) case Op::id:
#include "cgpo/graph/operations.def"
      throw std::logic_error("not a record");
  }
  throw std::logic_error("not an operation");
}

template <class Real>
void check_record(Op op, Backend backend) {
  constexpr int kLanes = 21;
  Lanes<Real> in(3, kLanes, 2);
  for (int l = 0; l < kLanes; ++l) {
    in.at(0, l) = static_cast<Real>(l - 8);
    in.at(1, l) = static_cast<Real>(0.125 * l - 1.0);
    in.at(2, l) = static_cast<Real>(2.0 - 0.25 * l);
  }
  const std::vector<Real> out = run(record_graph(op, precision_of<Real>()), backend, in, kLanes);
  for (int l = 0; l < kLanes; ++l) {
    const double expected = record_value(op, in.at(0, l), in.at(1, l), in.at(2, l));
    EXPECT_NEAR(out[static_cast<std::size_t>(l)], expected,
                8.0 * std::numeric_limits<Real>::epsilon() * (1.0 + std::abs(expected)))
        << op_name(op) << " in lane " << l;
  }
}

template <class Real>
void check_operation(Op op, Backend backend) {
  switch (op_info(op).kind) {
    case OpKind::kRecord: check_record<Real>(op, backend); break;
    case OpKind::kArithmetic:
    case OpKind::kPrimitive: check_exact<Real>(op, backend); break;
    case OpKind::kTranscendental: check_close<Real>(op, backend); break;
  }
}

TEST(Operations, EveryOneOnEveryBackend) {
  for (const Backend backend : available_backends()) {
    for (int number = 0; number < kOpCount; ++number) {
      SCOPED_TRACE(backend_name(backend));
      check_operation<float>(static_cast<Op>(number), backend);
      check_operation<double>(static_cast<Op>(number), backend);
    }
  }
}

}  // namespace
}  // namespace cgpo
