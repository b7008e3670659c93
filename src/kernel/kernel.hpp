// A graph as something to call: one environment a lane, any number of lanes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cgpo/base/aligned.hpp"
#include "cgpo/graph/graph.hpp"
#include "cgpo/kernel/backend.hpp"

namespace cgpo {

// Working memory of a call. Each thread owns one; it grows to what the largest kernel needs and stays.
class KernelScratch {
 public:
  // At least `size` bytes, on a cache line; contents are lost.
  std::byte* reserve(std::size_t size) {
    if (memory_.size() < size) memory_.resize(size);
    return memory_.data();
  }

 private:
  AlignedVector<std::byte> memory_;
};

// What a backend promises:
// * run() computes output row o of lane l from the input rows of lane l alone, for l in 0 … lanes-1, and touches no
//   other memory but the scratch. A lane's result does not depend on its neighbours, on the number of lanes or on where
//   the rows lie: the same inputs give the same bits.
// * A lane may hold anything, NaN included; it cannot trap and cannot disturb another.
// * The operations are those of the lowered graph (op.hpp), each rounded once, in the graph's precision: two backends
//   agree to the bit. NaN payloads and signs are free.
// * Rows need no alignment. Output rows overlap neither one another nor the inputs.
// * run() may be called from several threads at once, each with its own scratch, and allocates nothing once the
//   scratch has grown.
template <class Real>
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Real* const* inputs, Real* const* outputs, int lanes, KernelScratch& scratch) const = 0;
  virtual std::string_view backend() const = 0;
  virtual std::size_t code_bytes() const { return 0; }  // of machine code made for this kernel

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  int operations() const { return operations_; }  // per lane, after all simplification

 protected:
  explicit Kernel(const Graph& lowered)
      : inputs_(static_cast<int>(lowered.inputs().size())),
        outputs_(static_cast<int>(lowered.outputs().size())),
        operations_(lowered.count_operations()) {}

 private:
  int inputs_;
  int outputs_;
  int operations_;
};

template <class Real>
constexpr Precision precision_of() {
  return sizeof(Real) == sizeof(float) ? Precision::kFloat : Precision::kDouble;
}

// Lowers a traced graph to Real and compiles it. UserError if this machine has not the backend.
template <class Real>
std::unique_ptr<Kernel<Real>> compile(const Graph& graph, Backend backend = Backend::kBest);

}  // namespace cgpo
