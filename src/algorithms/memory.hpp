// What an algorithm takes of memory, worked out from its settings before any of it is taken.
//
// Each function here follows what a type allocates: whoever gives one of them a further array adds it here, and
// tests/algorithms/memory_test.cpp compares the sum with what is really asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/memory_limit.hpp"
#include "cgpo/nn/policy.hpp"
#include "cgpo/rollout/trajectory.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

struct MemoryPart {
  std::string name;
  std::string remedy;  // how it becomes smaller: "lower environments"
  std::int64_t bytes = 0;
};

struct MemoryEstimate {
  std::vector<MemoryPart> parts;
  std::int64_t total() const;
};

// The sizes that arrays follow.
struct MemorySizes {
  MemorySizes(const Task& task, const Settings& settings);

  TaskSpec spec;
  Settings settings;
  int horizon;
  int signals;
  int inner_rows;           // of the task's simulator
  int twin_rows;            // of its twin's
  std::int64_t twin_bytes;  // of its twin's fit
  Policy<float> policy;
  Mlp<float> critic;

  std::int64_t samples() const { return std::int64_t{settings.environments} * horizon; }
  BatchRows rows() const { return {spec.states, spec.observations, spec.actions, signals, inner_rows}; }
};

// What algorithms add to the parts; entries of the registry name one, or none if it is add_on_policy_memory().
void add_cgpo_memory(const MemorySizes& sizes, MemoryEstimate& estimate);
void add_model_based_memory(const MemorySizes& sizes, MemoryEstimate& estimate);
void add_first_order_memory(const MemorySizes& sizes, MemoryEstimate& estimate);
void add_natural_memory(const MemorySizes& sizes, MemoryEstimate& estimate);
void add_pdo_memory(const MemorySizes& sizes, MemoryEstimate& estimate);

// Of training by an algorithm of the registry; throws UserError like check_batch_size().
MemoryEstimate memory_of_training(const std::string& algorithm, const Task& task, const Settings& settings);
// Of `episodes` episodes that are judged: so many side by side, each leaves its sums.
MemoryEstimate memory_of_evaluation(const Task& task, const Settings& settings, int episodes, int at_once);
// Of episodes that are kept step by step.
MemoryEstimate memory_of_recording(const Task& task, const Settings& settings, int episodes);

// More was asked for than there is.
class TooLittleMemory : public UserError {
 public:
  using UserError::UserError;
};

// Throws TooLittleMemory, one sentence that says what is asked for, what there is and what to lower, if it is too much.
void check_memory(const MemoryEstimate& estimate, const std::string& what,
                  const std::optional<MemoryLimit>& limit = memory_limit());

}  // namespace cgpo
