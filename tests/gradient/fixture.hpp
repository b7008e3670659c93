// A policy, critics and a task in double, and the objective that a gradient claims to be the gradient of.
#pragma once

#include "cgpo/gradient/first_order.hpp"

#include "probe_task.hpp"

namespace cgpo::testing {

struct Fixture {
  explicit Fixture(ProbeTask probe = {}, int environments_in = 6, std::vector<int> hidden = {5, 4},
                   bool learn_std = true)
      : environments(environments_in),
        task(make_task(probe)),
        simulator(task, {0, 1}),
        policy(3, std::move(hidden), 2, learn_std),
        parameters(static_cast<std::size_t>(policy.parameter_count())),
        normaliser(3),
        pool(1) {
    policy.initialise(parameters, 1, 0.3, 1.0);
    Moments moments(3);
    const double samples[3][4] = {{0, 1, 2, 0.5}, {-1, 1, 0, 2}, {0, 0.1, 0.2, 0.4}};
    moments.add(Rows<const double>(&samples[0][0], 4), 4);
    normaliser.update(moments);
    for (std::uint32_t k = 0; k < 3; ++k) {
      critics.emplace_back(3, std::vector<int>{6}, task->spec().horizon);
      critics.back().initialise(4, k);
      critics.back().rescale(0.3 * k, 1.0 + k);
    }
  }

  Actor<double> actor() const { return {policy, parameters, normaliser}; }

  Batch<double> collect_batch(std::uint32_t iteration = 0, int block = 4) {
    Batch<double> batch(simulator, environments, task->spec().horizon, block);
    collect(simulator, actor(), {.seed = 3, .iteration = iteration}, false, pool, batch);
    return batch;
  }

  int environments;
  std::shared_ptr<const Task> task;
  KernelSimulator<double> simulator;
  Policy<double> policy;
  AlignedVector<double> parameters;
  Normaliser<double> normaliser;
  std::vector<Critic<double>> critics;
  ThreadPool pool;
};

}  // namespace cgpo::testing
