#include "cgpo/kernel/x86/machine_kernel.hpp"

#include <algorithm>
#include <utility>

#include "cgpo/base/error.hpp"

namespace cgpo {

template <class Real>
MachineKernel<Real>::MachineKernel(const Graph& lowered, Isa isa)
    : MachineKernel(lowered, isa, generate_code(lowered, isa)) {
  check(lowered.precision() == precision_of<Real>(), "a kernel computes in the precision of its graph");
}

template <class Real>
MachineKernel<Real>::MachineKernel(const Graph& lowered, Isa isa, GeneratedCode generated)
    : Kernel<Real>(lowered),
      isa_(isa),
      code_bytes_(generated.code.size()),
      code_(generated.code),
      constants_(std::move(generated.constants)),
      constants_middle_(generated.constants_middle),
      frame_bytes_(generated.frame_bytes),
      frame_middle_(generated.frame_middle),
      statistics_(generated.statistics) {}

template <class Real>
void MachineKernel<Real>::call(std::byte* frame, const Real* const* inputs, Real* const* outputs, int begin,
                               int end) const {
  using Function = void (*)(std::byte * frame, const std::byte* constants, const Real* const* inputs,
                            Real* const* outputs, std::size_t begin, std::size_t end);
  const auto function = reinterpret_cast<Function>(code_.begin());
  function(frame + frame_middle_, constants_.data() + constants_middle_, inputs, outputs,
           static_cast<std::size_t>(begin) * sizeof(Real), static_cast<std::size_t>(end) * sizeof(Real));
}

// The code knows whole vectors only. A remainder is done as the last whole vector of the row: lanes computed twice get
// the same bits twice, since inputs are not overwritten.
template <class Real>
void MachineKernel<Real>::run(const Real* const* inputs, Real* const* outputs, int lanes,
                              KernelScratch& scratch) const {
  if (lanes <= 0) return;
  if (lanes < width()) return run_few(inputs, outputs, lanes, scratch);
  std::byte* const frame = scratch.reserve(frame_bytes_);
  const int whole = lanes / width() * width();
  call(frame, inputs, outputs, 0, whole);
  if (whole < lanes) call(frame, inputs, outputs, lanes - width(), lanes);
}

// Fewer lanes than a vector has: on a copy, filled up with the last lane's values, which cannot do what a lane does
// not.
template <class Real>
void MachineKernel<Real>::run_few(const Real* const* inputs, Real* const* outputs, int lanes,
                                  KernelScratch& scratch) const {
  const auto rows = static_cast<std::size_t>(this->inputs()) + static_cast<std::size_t>(this->outputs());
  const auto stride = static_cast<std::size_t>(width());
  std::byte* const memory = scratch.reserve(frame_bytes_ + rows * (stride * sizeof(Real) + sizeof(Real*)));
  auto* const copies = reinterpret_cast<Real*>(memory + frame_bytes_);
  auto** const pointers = reinterpret_cast<Real**>(copies + rows * stride);
  for (std::size_t i = 0; i < rows; ++i) pointers[i] = copies + i * stride;
  Real** const results = pointers + this->inputs();
  for (int i = 0; i < this->inputs(); ++i) {
    std::copy_n(inputs[i], lanes, pointers[i]);
    std::fill(pointers[i] + lanes, pointers[i] + stride, inputs[i][lanes - 1]);
  }
  call(memory, pointers, results, 0, width());
  for (int o = 0; o < this->outputs(); ++o) std::copy_n(results[o], lanes, outputs[o]);
}

template class MachineKernel<float>;
template class MachineKernel<double>;

}  // namespace cgpo
