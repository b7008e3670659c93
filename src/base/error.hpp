// Two kinds of failure are exceptions; a third is not.
//
// * UserError: the user asked for something that cannot be done. The message is one sentence that names the key, file
//   or element and says what is allowed. The command line prints it and exits with 2.
// * check(): a rule that our own code broke. Never the user's fault.
// * Numerical trouble (a non-finite gradient, an infeasible sub-problem, a diverged environment) is an ordinary
//   outcome: it is returned, counted and reported, not thrown.
#pragma once

#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace cgpo {

class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template <class... Args>
  explicit UserError(fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
};

inline void check(bool holds, const char* rule, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    throw std::logic_error(fmt::format("{}:{}: broken invariant: {}", file, line, rule));
}

}  // namespace cgpo
