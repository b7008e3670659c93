// The physical limit of arithmetic on this machine.
#pragma once

#include <string>

#include "cgpo/kernel/backend.hpp"

namespace cgpo {

// Fused multiply–adds of floats in a second, counted a lane, that one core does with the backend's vectors when nothing
// stands in its way; measured now. 0 for a backend that has no such bound, as the interpreter.
double multiply_adds_per_second(Backend backend);

// Name of the CPU, its cores and instruction set, in words.
std::string cpu_description();

}  // namespace cgpo
