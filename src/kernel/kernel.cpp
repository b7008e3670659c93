#include "cgpo/kernel/kernel.hpp"

#include "cgpo/base/error.hpp"
#include "cgpo/graph/lower.hpp"
#include "cgpo/kernel/interpreter.hpp"
#ifdef CGPO_X86
#include "cgpo/kernel/machine_kernel.hpp"
#endif

namespace cgpo {

template <class Real>
std::unique_ptr<Kernel<Real>> compile(const Graph& graph, Backend backend) {
  const Graph ready = graph.precision() == Precision::kExact ? prepare(graph, precision_of<Real>()) : graph;
  const Backend chosen = resolve_backend(backend);
#ifdef CGPO_X86
  if (chosen == Backend::kAvx512) return std::make_unique<MachineKernel<Real>>(ready, Isa::kAvx512);
  if (chosen == Backend::kAvx2) return std::make_unique<MachineKernel<Real>>(ready, Isa::kAvx2);
#endif
  check(chosen == Backend::kInterpreter, "every available backend is known");
  return std::make_unique<Interpreter<Real>>(ready);
}

template std::unique_ptr<Kernel<float>> compile<float>(const Graph&, Backend);
template std::unique_ptr<Kernel<double>> compile<double>(const Graph&, Backend);

}  // namespace cgpo
