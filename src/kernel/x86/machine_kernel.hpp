// Private to this folder: the backend that makes machine code, straight-line AVX2 or AVX-512, one vector of lanes at a
// time.
#pragma once

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/cpu.hpp"
#include "cgpo/kernel/kernel.hpp"
#include "cgpo/kernel/x86/code_generator.hpp"
#include "cgpo/kernel/x86/executable_memory.hpp"

namespace cgpo {

template <class Real>
class MachineKernel final : public Kernel<Real> {
 public:
  MachineKernel(const Graph& lowered, Isa isa);  // kAvx2 or kAvx512, which this CPU must have
  void run(const Real* const* inputs, Real* const* outputs, int lanes, KernelScratch& scratch) const override;
  std::string_view backend() const override {
    return backend_name(isa_ == Isa::kAvx512 ? Backend::kAvx512 : Backend::kAvx2);
  }
  std::size_t code_bytes() const override { return code_bytes_; }

  const CodeStatistics& statistics() const { return statistics_; }
  std::size_t frame_bytes() const { return frame_bytes_; }

 private:
  MachineKernel(const Graph& lowered, Isa isa, GeneratedCode generated);
  void run_few(const Real* const* inputs, Real* const* outputs, int lanes, KernelScratch& scratch) const;
  void call(std::byte* frame, const Real* const* inputs, Real* const* outputs, int begin, int end) const;
  int width() const { return (isa_ == Isa::kAvx512 ? 64 : 32) / static_cast<int>(sizeof(Real)); }

  Isa isa_;
  std::size_t code_bytes_;
  ExecutableMemory code_;
  AlignedVector<std::byte> constants_;
  std::size_t constants_middle_;
  std::size_t frame_bytes_;
  std::size_t frame_middle_;
  CodeStatistics statistics_;
};

}  // namespace cgpo
