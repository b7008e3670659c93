#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

#include "cgpo/base/memory_limit.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/command_line.hpp"

namespace {

// Some destructors need memory (that of a JSON tree does), and where there is none the language knows no way but to end
// the program at once. It says why, as it does elsewhere.
[[noreturn]] void end_at_once() {
  try {
    if (const std::exception_ptr cause = std::current_exception()) std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    std::fputs(cgpo::program_name().c_str(), stderr);
    std::fputs(": ", stderr);
    std::fputs(cgpo::kOutOfMemory, stderr);
    std::fputs("\n", stderr);
    ::_exit(2);
  } catch (...) {  // a fault of the program: as if this function were not here
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_at_once);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of a write, which gets its sentence
  return cgpo::run_command_line(argc, argv);
}
