// MuJoCo's library is compiled for CPUs with AVX and uses it before `main`, where a CPU without it would end the
// program without a word. What stands in .preinit_array runs before any library does, so the sentence is said there;
// nothing but the C library may be used.
#if defined(__x86_64__)

#include <cstddef>
#include <unistd.h>

namespace {

constexpr char kSentence[] = ": this CPU has no AVX, which MuJoCo's library needs\n";

// By hand: a sanitizer's own string functions are not ready yet.
bool same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

void say(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  if (::write(STDERR_FILENO, text, size) < 0) ::_exit(3);
}

void check_cpu(int, char** arguments, char** environment) {
  __builtin_cpu_init();
  bool fits = __builtin_cpu_supports("avx") != 0;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (same(*variable, "CGPO_ISA=none")) fits = false;  // for the test of this
  }
  if (fits) return;
  const char* name = arguments[0] != nullptr ? arguments[0] : "cgpo";
  for (const char* c = name; *c != '\0'; ++c) name = *c == '/' ? c + 1 : name;
  say(name);
  say(kSentence);
  ::_exit(2);
}

}  // namespace

[[gnu::section(".preinit_array"), gnu::used]] static void (*const kRunBeforeLibraries)(int, char**, char**) = check_cpu;

#endif
