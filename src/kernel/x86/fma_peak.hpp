// Private to this folder: how many fused multiply–adds the vectors of an instruction set do.
#pragma once

#include "cgpo/base/cpu.hpp"

namespace cgpo {

// Of floats, in a second, counted a lane, on one core; measured now. kAvx2 or kAvx512, which this CPU must have.
double measure_multiply_adds(Isa isa);

}  // namespace cgpo
