#include "cgpo/studies/stages.hpp"

#include <cstring>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"

namespace cgpo {

AlgorithmContext without_discount(AlgorithmContext context) {
  context.settings.gradient.discount = 1.0;
  return context;
}

std::vector<Tensors> training_stages(const AlgorithmContext& context, const AlgorithmEntry& algorithm,
                                     const std::vector<int>& iterations, const Tick& tick) {
  const std::unique_ptr<Algorithm> training = algorithm.make(without_discount(context));
  std::vector<Tensors> result;
  for (const int wanted : iterations) {
    check(wanted >= training->iteration(), "stages follow one another");
    while (training->iteration() < wanted) {
      training->iterate();
      tick(static_cast<double>(training->iteration()) / iterations.back());
    }
    training->save(result.emplace_back());
  }
  return result;
}

Tensors widened(const Tensors& tensors) {
  Tensors result = tensors;
  for (auto& [name, tensor] : result.entries) {
    if (tensor.type != Tensor::Type::kF32) continue;
    const std::size_t count = tensor.bytes.size() / sizeof(float);
    std::vector<float> narrow(count);
    std::memcpy(narrow.data(), tensor.bytes.data(), tensor.bytes.size());
    const std::vector<double> wide(narrow.begin(), narrow.end());
    tensor.type = Tensor::Type::kF64;
    tensor.bytes.resize(count * sizeof(double));
    std::memcpy(tensor.bytes.data(), wide.data(), tensor.bytes.size());
  }
  return result;
}

}  // namespace cgpo
