// Private to this folder: what the folder of a backend provides.
#pragma once

#include <memory>

#include "cgpo/kernel/kernel.hpp"

namespace cgpo {

struct BackendDriver {
  int preference = 0;  // Backend::kBest is the available one that has the most
  bool (*available)() = nullptr;
  std::unique_ptr<Kernel<float>> (*make_float)(const Graph& lowered) = nullptr;
  std::unique_ptr<Kernel<double>> (*make_double)(const Graph& lowered) = nullptr;
  double (*multiply_adds_per_second)() = nullptr;  // as peak.hpp says; null: no such bound
};

#define CGPO_BACKEND(id, name, driver) BackendDriver driver();
#include "cgpo/kernel/backends.def"

// Of a definite backend.
const BackendDriver& driver_of(Backend backend);

}  // namespace cgpo
