// Which vector instructions this CPU has.
#pragma once

namespace cgpo {

enum class Isa { kBaseline, kAvx2, kAvx512 };

// The best that both the CPU and this build know. The environment variable CGPO_ISA (baseline, avx2, avx512) can only
// lower it; it is there to test the slower paths on a faster machine.
Isa best_isa();

const char* isa_name(Isa isa);

}  // namespace cgpo
