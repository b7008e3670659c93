// Which backends there are, and what happens to a wish for another.
#include "cgpo/kernel/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

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

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
// A process of its own, since the refusal cannot be taken back.
TEST(Backend, WhereMadeCodeMayNotRunTheInterpreterDoes) {
  const auto child = [] {
    constexpr int kSetMdwe = 65;  // PR_SET_MDWE, Linux 6.3: memory that was writable never becomes executable
    if (prctl(kSetMdwe, 1UL, 0UL, 0UL, 0UL) != 0) std::_Exit(2);
    const bool only_interpreter = available_backends() == std::vector{Backend::kInterpreter};
    const auto kernel = compile<float>(double_the_input());
    std::_Exit(only_interpreter && kernel->backend() == "interpreter" ? 0 : 1);
  };
  const pid_t process = fork();
  if (process == 0) child();
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "this kernel cannot refuse it";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

TEST(Backend, OneThatTheMachineLacksIsTheUsersError) {
  const auto available = available_backends();
  for (const Backend backend : {Backend::kAvx2, Backend::kAvx512}) {
    if (std::find(available.begin(), available.end(), backend) != available.end()) continue;
    EXPECT_THROW(compile<float>(double_the_input(), backend), UserError);
  }
}

}  // namespace
}  // namespace cgpo
