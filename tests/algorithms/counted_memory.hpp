// What the program asks for through operator new, and failures on demand: counted_memory.cpp replaces the operators.
#pragma once

#include <atomic>

namespace cgpo::counted {

extern std::atomic<long long> asked;       // bytes since the program began
extern std::atomic<long long> live;        // bytes that are in use
extern std::atomic<long long> peak;        // most of them since it was last set
extern std::atomic<long long> fail_after;  // allocations until all fail; negative: none does

}  // namespace cgpo::counted
