// The table of vector loops that dense_kernels.cpp fills once for each instruction set. Callers use dense.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cgpo/base/rows.hpp"

namespace cgpo::dense {

// One step of Adam, its numbers ready for the loop: p -= rate m / (sqrt(v) root + epsilon), root = 1/sqrt(1 - beta2^t).
template <class Real>
struct AdamStep {
  Real beta1;
  Real beta2;
  Real rate;  // learning rate / (1 - beta1^t)
  Real root;
  Real epsilon;
};

template <class Real>
struct Kernels {
  void (*affine)(const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, Rows<const Real> x, Rows<Real> y,
                 int outputs, int inputs, int samples);
  void (*affine_transposed)(const Real* weight, std::ptrdiff_t weight_stride, Rows<const Real> dy, Rows<Real> dx,
                            int outputs, int inputs, int samples, bool add);
  void (*outer_accumulate)(Rows<const Real> dy, Rows<const Real> x, double* dweight, double* dbias, int outputs,
                           int inputs, int samples);
  void (*tanh_rows)(Rows<Real> h, int rows, int samples);
  void (*tanh_adjoint)(Rows<const Real> h, Rows<Real> d, int rows, int samples);
  void (*gather)(const Real* table, std::ptrdiff_t width, const std::uint32_t* index, Rows<Real> x, int features,
                 int samples);
  void (*adam)(AdamStep<Real> step, const double* gradient, Real* m, Real* v, Real* parameters, std::ptrdiff_t count);
};

namespace baseline {
extern const Kernels<float> kFloatKernels;
extern const Kernels<double> kDoubleKernels;
}  // namespace baseline
namespace avx2 {
extern const Kernels<float> kFloatKernels;
extern const Kernels<double> kDoubleKernels;
}  // namespace avx2
namespace avx512 {
extern const Kernels<float> kFloatKernels;
extern const Kernels<double> kDoubleKernels;
}  // namespace avx512

}  // namespace cgpo::dense
