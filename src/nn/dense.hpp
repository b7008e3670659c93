// Products of a small dense layer with a batch, and the loops that go with it.
//
// A batch is Rows: row = feature, column = sample. W is [outputs x inputs], row-major. Samples may be any number, rows
// may start anywhere; results must not overlap their inputs. Nothing is allocated. The instruction set is chosen once,
// at the first call; AVX2 and AVX-512 give the same bits (dense_kernels.cpp says how).
//
// Sums over samples, i.e. gradients, are kept in double whatever Real is: partial sums of 512 samples in Real are added
// to a double.
#pragma once

#include "cgpo/base/cpu.hpp"
#include "cgpo/nn/dense_kernels.hpp"

namespace cgpo::dense {

// The loops for one instruction set that this CPU has.
template <class Real>
const Kernels<Real>& kernels(Isa isa);
template <class Real>
const Kernels<Real>& kernels();  // for best_isa()

// Y = W X + b; bias may be null.
template <class Real>
void affine(const Real* weight, const Real* bias, Rows<const Real> x, Rows<Real> y, int outputs, int inputs,
            int samples) {
  kernels<Real>().affine(weight, inputs, bias, x, y, outputs, inputs, samples);
}

// dX = W' dY, or dX += W' dY. wanted <= inputs: only the first rows of dX are computed.
template <class Real>
void affine_transposed(const Real* weight, Rows<const Real> dy, Rows<Real> dx, int outputs, int inputs, int samples,
                       bool add = false, int wanted = -1) {
  kernels<Real>().affine_transposed(weight, inputs, dy, dx, outputs, wanted < 0 ? inputs : wanted, samples, add);
}

// dW += dY X', db += row sums of dY; dbias may be null.
template <class Real>
void outer_accumulate(Rows<const Real> dy, Rows<const Real> x, double* dweight, double* dbias, int outputs, int inputs,
                      int samples) {
  kernels<Real>().outer_accumulate(dy, x, dweight, dbias, outputs, inputs, samples);
}

// H = tanh(H), in place.
template <class Real>
void tanh_rows(Rows<Real> h, int rows, int samples) {
  kernels<Real>().tanh_rows(h, rows, samples);
}

// D = D * (1 - H^2), in place: from the adjoint of H = tanh(Z) to that of Z.
template <class Real>
void tanh_adjoint(Rows<const Real> h, Rows<Real> d, int rows, int samples) {
  kernels<Real>().tanh_adjoint(h, d, rows, samples);
}

// X[f, j] = table[index[j], f]: samples of a sample-major table become the columns of a batch.
template <class Real>
void gather(const Real* table, std::ptrdiff_t width, const std::uint32_t* index, Rows<Real> x, int features,
            int samples) {
  kernels<Real>().gather(table, width, index, x, features, samples);
}

}  // namespace cgpo::dense
