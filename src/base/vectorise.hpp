// A promise to the compiler.
#pragma once

// Before a loop: what one pass writes no other reads, so passes may run side by side.
#if defined(__GNUC__) && !defined(__clang__)
#define CGPO_INDEPENDENT _Pragma("GCC ivdep")
#else
#define CGPO_INDEPENDENT
#endif
