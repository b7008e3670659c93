// All algorithms by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

struct AlgorithmEntry {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Algorithm>(const AlgorithmContext&)>
      make;  // throws UserError if it cannot do this task
};

const std::vector<AlgorithmEntry>& algorithm_registry();
const AlgorithmEntry& find_algorithm(const std::string& name);  // throws UserError with the nearest name

}  // namespace cgpo
