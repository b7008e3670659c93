// Which backends there are, and what happens to a wish for another.
#include "cgpo/kernel/backend.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/graph/traced.hpp"
#include "cgpo/kernel/kernel.hpp"

namespace cgpo {
namespace {

Graph double_the_input() {
  Graph graph;
  const auto x = trace_inputs(graph, 1);
  trace_output(graph, x[0] + x[0]);
  return graph;
}

TEST(Backend, EveryAvailableOneSaysItsName) {
  for (const Backend backend : available_backends()) {
    const auto kernel = compile<float>(double_the_input(), backend);
    EXPECT_EQ(kernel->backend(), backend_name(backend));
    EXPECT_EQ(kernel->code_bytes() > 0, backend != Backend::kInterpreter);
  }
}

TEST(Backend, BestIsTheLastAvailable) {
  EXPECT_EQ(available_backends().front(), Backend::kInterpreter);
  EXPECT_EQ(resolve_backend(Backend::kBest), available_backends().back());
  EXPECT_EQ(compile<double>(double_the_input())->backend(), backend_name(available_backends().back()));
}

TEST(Backend, OneThatTheMachineLacksIsTheUsersError) {
  const auto available = available_backends();
  for (const Backend backend : {Backend::kAvx2, Backend::kAvx512}) {
    if (std::find(available.begin(), available.end(), backend) != available.end()) continue;
    EXPECT_THROW(compile<float>(double_the_input(), backend), UserError);
  }
}

}  // namespace
}  // namespace cgpo
