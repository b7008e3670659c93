// One run in two stages: an algorithm prepares on our own engine, which is fast and whose derivatives are its own, then
// the same algorithm goes on with what it has learned where the task really is.
#pragma once

#include "cgpo/algorithms/registry.hpp"

namespace cgpo {

// How many of the first iterations prepare on our own engine; 0: none. At least one is left for the task's engine.
int preparing_iterations(const std::string& name, const Settings& settings, const Task& task);

// The algorithm of this name: in stages if the settings ask for it and the task has two engines.
std::unique_ptr<Algorithm> make_algorithm(const std::string& name, const AlgorithmContext& context);

}  // namespace cgpo
