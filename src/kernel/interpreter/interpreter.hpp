// Private to this folder: the reference backend, which walks the operations, each one a tight loop over a block of
// lanes.
#pragma once

#include <vector>

#include "cgpo/base/cpu.hpp"
#include "cgpo/kernel/interpreter/program.hpp"
#include "cgpo/kernel/kernel.hpp"

namespace cgpo {

template <class Real>
class Interpreter final : public Kernel<Real> {
 public:
  explicit Interpreter(const Graph& lowered, Isa isa = best_isa());
  void run(const Real* const* inputs, Real* const* outputs, int lanes, KernelScratch& scratch) const override;
  std::string_view backend() const override { return backend_name(Backend::kInterpreter); }

  int slots() const { return program_.slots; }

 private:
  InterpreterProgram<Real> program_;
  typename InterpreterProgram<Real>::Loop loop_;
};

}  // namespace cgpo
