// Loaded before a program (LD_PRELOAD), makes its n-th allocation fail. Allocations are no system calls: this is the
// one thing that the supervisor cannot do.
//
//   CGPO_FAIL_ALLOCATION=N       which one, from 1, counted from the beginning of main
//   CGPO_FAIL_ALLOCATIONS_ON=1   that one and all that follow
//   CGPO_FAIL_ALLOCATION_LEAST=B count only those of at least so many bytes
//   CGPO_ALLOCATION_REPORT=FILE  how many there were, at the end
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

// What the library calls them.
void* real_malloc(std::size_t size) __asm__("__libc_malloc");
void* real_calloc(std::size_t count, std::size_t size) __asm__("__libc_calloc");
void* real_realloc(void* block, std::size_t size) __asm__("__libc_realloc");
void* real_memalign(std::size_t alignment, std::size_t size) __asm__("__libc_memalign");

namespace {

std::atomic<bool> counting{false};
std::atomic<long> counted{0};
long fails_at = 0;
bool fails_on = false;
std::size_t least = 0;
char report[4096] = "";

long number(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

bool fails(std::size_t size) {
  if (!counting.load(std::memory_order_relaxed) || size < least) return false;
  const long count = counted.fetch_add(1, std::memory_order_relaxed) + 1;
  if (fails_at == 0 || (fails_on ? count < fails_at : count != fails_at)) return false;
  errno = ENOMEM;
  return true;
}

void write_report() {
  counting = false;
  if (report[0] == 0) return;
  const int file = ::open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%ld\n", counted.load());
  if (::write(file, text, static_cast<std::size_t>(size)) != size) std::abort();
  ::close(file);
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  fails_at = number("CGPO_FAIL_ALLOCATION");
  fails_on = number("CGPO_FAIL_ALLOCATIONS_ON") != 0;
  least = static_cast<std::size_t>(number("CGPO_FAIL_ALLOCATION_LEAST"));
  if (const char* const file = std::getenv("CGPO_ALLOCATION_REPORT")) {
    std::snprintf(report, sizeof report, "%s", file);
  }
  ::unsetenv("LD_PRELOAD");  // programs that this one starts have their memory
  counting = true;
  const int code = program_main(argc, argv, environment);
  write_report();
  return code;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails(size) ? nullptr : real_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails(count * size) ? nullptr : real_calloc(count, size); }
void* realloc(void* block, std::size_t size) { return fails(size) ? nullptr : real_realloc(block, size); }
void* memalign(std::size_t alignment, std::size_t size) {
  return fails(size) ? nullptr : real_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"

// Called by every program's first instructions: the place to be before main.
int start_main(Main main, int argc, char** argv, void (*begin)(), void (*end)(), void (*unload)(),
               void* stack) __asm__("__libc_start_main");

int start_main(Main main, int argc, char** argv, void (*begin)(), void (*end)(), void (*unload)(), void* stack) {
  const auto start = reinterpret_cast<decltype(&start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  program_main = main;
  return start(counted_main, argc, argv, begin, end, unload, stack);
}
