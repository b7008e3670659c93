// All algorithms by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

// Adds what training takes of memory to the estimate (memory.hpp).
struct MemorySizes;
struct MemoryEstimate;
using AddMemory = void (*)(const MemorySizes& sizes, MemoryEstimate& estimate);
void add_on_policy_memory(const MemorySizes& sizes, MemoryEstimate& estimate);

struct AlgorithmEntry {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Algorithm>(const AlgorithmContext&)>
      make;                                     // throws UserError if it cannot do this task
  AddMemory add_memory = add_on_policy_memory;  // what all algorithms have that are rules of on_policy.hpp
  bool keeps_data = false;                      // Algorithm::take_new_data gives some
};

const std::vector<AlgorithmEntry>& algorithm_registry();
const AlgorithmEntry& find_algorithm(const std::string& name);  // throws UserError with the nearest name

}  // namespace cgpo
