#include "cgpo/run/rehearsal.hpp"

#include <chrono>

namespace cgpo {
namespace {

constexpr int kMostTries = 5;        // iterations
constexpr double kEnoughTime = 1.0;  // seconds after which no further one is begun

// The first is not counted if another follows: memory is touched for the first time there, and a model that knows
// nothing yet is fitted longer.
double time_iterations(Algorithm& algorithm) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  algorithm.iterate();
  const double first = since(begin);
  const Clock::time_point second = Clock::now();
  int count = 0;
  while (count < kMostTries && since(begin) < kEnoughTime) {
    algorithm.iterate();
    ++count;
  }
  return count > 0 ? since(second) / count : first;
}

}  // namespace

Rehearsal rehearse(Configuration configuration, const RunOptions& options) {
  Rehearsal result;
  configuration.made = task_of(configuration);
  result.folder = folder_of(configuration, options);
  result.iterations = configuration.settings.iterations;
  result.memory = memory_of_training(configuration.algorithm, *configuration.made, configuration.settings);
  result.available = memory_limit();
  check_memory(result.memory, "this run", result.available);
  ThreadPool pool(options.threads);
  result.seconds_per_iteration = time_iterations(*prepare_new_run(configuration, options, pool).algorithm);
  return result;
}

}  // namespace cgpo
