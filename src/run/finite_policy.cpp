#include "cgpo/run/finite_policy.hpp"

#include <cmath>
#include <cstring>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

template <class Real>
bool all_are_finite(const std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at + sizeof(Real) <= bytes.size(); at += sizeof(Real)) {
    Real value;
    std::memcpy(&value, bytes.data() + at, sizeof(Real));
    if (!std::isfinite(value)) return false;
  }
  return true;
}

bool is_finite(const Tensor& tensor) {
  switch (tensor.type) {
    case Tensor::Type::kF32: return all_are_finite<float>(tensor.bytes);
    case Tensor::Type::kF64: return all_are_finite<double>(tensor.bytes);
    case Tensor::Type::kI64: return true;
  }
  return false;
}

}  // namespace

std::string not_finite_in_policy(const Tensors& tensors) {
  for (const auto& [name, tensor] : tensors.entries) {
    const bool acts =
        name.starts_with("normaliser.") || (name.starts_with("policy.") && name.find("adam") == std::string::npos);
    if (acts && !is_finite(tensor)) return name;
  }
  return "";
}

void check_policy_is_finite(const Tensors& tensors, const std::filesystem::path& path) {
  const std::string name = not_finite_in_policy(tensors);
  if (name.empty()) return;
  throw UserError(
      "'{}' holds numbers that are not finite, in '{}': no policy can act with it, and no run go on from it",
      path.string(), name);
}

}  // namespace cgpo
