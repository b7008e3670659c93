#include "cgpo/kernel/kernel.hpp"

#include "cgpo/graph/lower.hpp"
#include "cgpo/kernel/interpreter.hpp"

namespace cgpo {

template <class Real>
std::unique_ptr<Kernel<Real>> compile(const Graph& graph, Backend) {
  const Graph ready = graph.precision() == Precision::kExact ? prepare(graph, precision_of<Real>()) : graph;
  return std::make_unique<Interpreter<Real>>(ready);
}

template std::unique_ptr<Kernel<float>> compile<float>(const Graph&, Backend);
template std::unique_ptr<Kernel<double>> compile<double>(const Graph&, Backend);

}  // namespace cgpo
