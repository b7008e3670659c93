// Checkpoints: files in the safetensors layout.
#include "cgpo/base/tensors.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  const auto tensors = fuzz::accepted([&] { return parse_tensors(input, "fuzz.safetensors"); });
  if (!tensors) return;
  for (const auto& [name, tensor] : tensors->entries) {
    __int128 count = 1;
    for (const std::int64_t extent : tensor.shape) {
      fuzz::require(extent >= 0, "no extent is negative");
      count *= extent;
      fuzz::require(count <= static_cast<__int128>(input.size()), "no tensor is larger than its file");
    }
    const std::size_t width = tensor.type == Tensor::Type::kF32 ? 4 : 8;
    fuzz::require(tensor.bytes.size() == static_cast<std::size_t>(count) * width, "a tensor has the size of its shape");
    fuzz::passes([&, n = &name] { tensors->number(*n); });
    fuzz::passes([&, n = &name] { tensors->integer(*n); });
    fuzz::passes([&, n = &name] { tensors->numbers(*n); });
  }
}
