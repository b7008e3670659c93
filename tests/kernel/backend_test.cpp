// Which backends there are, and what happens to a wish for another.
#include "cgpo/kernel/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/graph/traced.hpp"
#include "cgpo/kernel/driver.hpp"
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

TEST(Backend, TheTableHasEachWordOnce) {
  std::set<std::string_view> names = {backend_name(Backend::kBest)};
  EXPECT_EQ(*names.begin(), "best");
  for (const Backend backend : known_backends()) {
    EXPECT_TRUE(names.insert(backend_name(backend)).second) << backend_name(backend);
  }
  for (const char* name : {"interpreter", "avx2", "avx512"}) EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(Backend, WhatIsAvailableCanBeMade) {
  const auto available = available_backends();
  EXPECT_EQ(available.front(), Backend::kInterpreter);
  for (const Backend backend : known_backends()) {
    const BackendDriver& driver = driver_of(backend);
    const bool runs = std::find(available.begin(), available.end(), backend) != available.end();
    EXPECT_EQ(driver.available(), runs);
    EXPECT_TRUE(!runs || (driver.make_float != nullptr && driver.make_double != nullptr)) << backend_name(backend);
  }
  EXPECT_THROW(driver_of(Backend::kBest), std::logic_error);
}

TEST(Backend, BestIsThePreferredOne) {
  const Backend best = resolve_backend(Backend::kBest);
  for (const Backend backend : available_backends()) {
    EXPECT_TRUE(backend == best || driver_of(backend).preference < driver_of(best).preference);
  }
  EXPECT_EQ(compile<double>(double_the_input())->backend(), backend_name(best));
  // Machine code, where there is any, uses all that the CPU has.
  const bool machine_code = available_backends().size() > 1;
  EXPECT_EQ(backend_name(best), machine_code ? isa_name(best_isa()) : "interpreter");
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
  for (const Backend backend : known_backends()) {
    if (std::find(available.begin(), available.end(), backend) != available.end()) continue;
    EXPECT_THROW(compile<float>(double_the_input(), backend), UserError);
  }
}

}  // namespace
}  // namespace cgpo
