// What a simulator outside says, as data: its header and its answers, read without a process.
// docs/guide/your-own-simulator.md defines them. What is wrong is a UserError whose text goes on after "the simulator
// …": "sent a wrong header: …".
#pragma once

#include <span>
#include <string>

#include "cgpo/tasks/task.hpp"

namespace cgpo {

inline constexpr int kSimulatorProtocolVersion = 1;
inline constexpr const char* kSimulatorProtocol = "cgpo-simulator";

// The task that one line of JSON describes.
TaskSpec parse_simulator_header(const std::string& line);

// Takes over what environments `first` and on answered to a reset: as many numbers as the observations.
void take_reset_answer(const TaskSpec& spec, int first, std::span<const float> answer, std::span<double> observations);

// The same of a step: observations, reward, costs and end of each environment. `ended` is theirs, and is set here; what
// follows an end counts only where the task goes on after it.
void take_step_answer(const TaskSpec& spec, int first, std::span<const float> answer, std::span<char> ended,
                      std::span<double> results);

}  // namespace cgpo
