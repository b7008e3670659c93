// Two kinds of failure are exceptions; a third is not.
//
// * UserError: the user asked for something that cannot be done. The message is one sentence that names the key, file
//   or element and says what is allowed. The command line prints it and exits with 2.
// * check(): a rule that our own code broke. Never the user's fault.
// * Numerical trouble (a non-finite gradient, an infeasible sub-problem, a diverged environment) is an ordinary
//   outcome: it is returned, counted and reported, not thrown.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace cgpo {

class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template <class... Args>
  explicit UserError(fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
};

inline void check(bool holds, const char* rule, std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    throw std::logic_error(fmt::format("{}:{}: broken invariant: {}", where.file_name(), where.line(), rule));
  }
}

}  // namespace cgpo
