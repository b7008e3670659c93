#include "cgpo/nn/dense.hpp"

#include <type_traits>

namespace cgpo::dense {
namespace {

template <class Real>
const Kernels<Real>& choose(const Kernels<float>& single, const Kernels<double>& twice) {
  if constexpr (std::is_same_v<Real, float>) {
    return single;
  } else {
    return twice;
  }
}

}  // namespace

template <class Real>
const Kernels<Real>& kernels(Isa isa) {
#if defined(CGPO_X86)
  if (isa == Isa::kAvx512) return choose<Real>(avx512::kFloatKernels, avx512::kDoubleKernels);
  if (isa == Isa::kAvx2) return choose<Real>(avx2::kFloatKernels, avx2::kDoubleKernels);
#endif
  static_cast<void>(isa);
  return choose<Real>(baseline::kFloatKernels, baseline::kDoubleKernels);
}

template <class Real>
const Kernels<Real>& kernels() {
  static const Kernels<Real>& chosen = kernels<Real>(best_isa());
  return chosen;
}

template const Kernels<float>& kernels<float>(Isa);
template const Kernels<double>& kernels<double>(Isa);
template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace cgpo::dense
