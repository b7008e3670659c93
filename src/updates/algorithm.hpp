// What the training loop knows of an algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/base/thread_pool.hpp"
#include "cgpo/tasks/task.hpp"
#include "cgpo/updates/report.hpp"
#include "cgpo/updates/settings.hpp"

namespace cgpo {

// Trains one policy. State lives inside; the random numbers are keyed by (seed, iteration), so a state that was saved
// and loaded continues bit for bit.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual IterationReport iterate() = 0;
  virtual int iteration() const = 0;  // that iterate() will do next
  virtual void save(Tensors& tensors) const = 0;
  virtual void load(const Tensors& tensors) = 0;
  // Takes over policy and normaliser (and what else fits) of another run, and starts from iteration 0.
  virtual void warm_start(const Tensors& tensors) = 0;

  // Bulky data that only grows: what the iteration that has just been done added, apart from save(). Null: nothing.
  virtual std::shared_ptr<const Tensors> take_new_data() { return nullptr; }
  // Data of earlier iterations is not needed any more.
  virtual int first_data_needed() const { return 0; }
  // Before load(): what take_new_data() gave, iteration by iteration in their order.
  virtual void load_data(const Tensors&) {}
};

// What it needs to start.
struct AlgorithmContext {
  std::shared_ptr<const Task> task;
  Settings settings;
  std::uint64_t seed = 0;
  ThreadPool* pool = nullptr;
};

// Costs and limits that `settings` and the task's defaults come to.
struct Constraints {
  std::vector<int> costs;  // indices into the task's list
  std::vector<std::string> names;
  std::vector<double> limits;
};
Constraints resolve_constraints(const Task& task, const Settings& settings);  // throws UserError

}  // namespace cgpo
