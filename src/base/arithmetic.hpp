// Whether another machine computes with the same last bits.
#pragma once

#include <string>

namespace cgpo {

// Kernels, networks and sums have the same bits everywhere: their order is fixed, and fused operations are rounded once
// on every CPU. What is left is the C library's log, exp, sin, cos and atan2, which it chooses by the CPU (glibc has
// other code where there is no AVX2 and FMA) and changes between versions. This is a word for what they give here: runs
// under equal words agree to the last bit.
const std::string& arithmetic_fingerprint();

}  // namespace cgpo
