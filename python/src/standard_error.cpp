// Debian's libasmjit.a is compiled for programs: it takes the address of `stderr` in a way that a module, which is
// loaded anywhere, cannot have. All else of it can. So the linker leads every `stderr` of this module here
// (--wrap=stderr).
#include <cstdio>

extern "C" {
extern std::FILE* __real_stderr;  // NOLINT(bugprone-reserved-identifier): the linker's name
[[gnu::visibility("hidden")]] std::FILE* __wrap_stderr = nullptr;  // NOLINT(bugprone-reserved-identifier)
}

// Before any other code of the module runs.
[[gnu::constructor(101)]] static void take_standard_error() { __wrap_stderr = __real_stderr; }
