#include "cgpo/kernel/kernel.hpp"

#include "cgpo/graph/lower.hpp"
#include "cgpo/kernel/driver.hpp"

namespace cgpo {

template <class Real>
std::unique_ptr<Kernel<Real>> compile(const Graph& graph, Backend backend) {
  const Graph ready = graph.precision() == Precision::kExact ? prepare(graph, precision_of<Real>()) : graph;
  const BackendDriver& driver = driver_of(resolve_backend(backend));
  if constexpr (precision_of<Real>() == Precision::kFloat) {
    return driver.make_float(ready);
  } else {
    return driver.make_double(ready);
  }
}

template std::unique_ptr<Kernel<float>> compile<float>(const Graph&, Backend);
template std::unique_ptr<Kernel<double>> compile<double>(const Graph&, Backend);

}  // namespace cgpo
