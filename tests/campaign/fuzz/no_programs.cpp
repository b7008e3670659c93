// A reader that starts a program is a finding, and the program is not started.
#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] int refuse() {
  std::fputs("fuzz: a reader wants to start a program\n", stderr);
  std::abort();
}

}  // namespace

extern "C" {
int __wrap_fork() { return refuse(); }
int __wrap_vfork() { return refuse(); }
int __wrap_execvp() { return refuse(); }
int __wrap_posix_spawn() { return refuse(); }
}
