// Small task files for tests, and what comes of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/taskfile/task_file.hpp"

namespace cgpo::testing {

inline std::shared_ptr<const Task> task_of_text(const std::string& text) {
  const TaskEntry entry = TaskFile::parse(text, "t.toml")->entry();
  return entry.make(TaskOptions(entry.options));
}

// A task with two states, x (one number) and v = (1, 2, 3) at the start, whose reward is this expression.
inline std::string with_reward(const std::string& reward, const std::string& more = "") {
  return "horizon = 5\nactions = 2\nperiod = 0.1\nobservation = 'x'\nreward = \"" + reward +
         "\"\n[states]\nx = 0.5\nv = '[1, 2, 3]'\n" + more;
}

// Its value after one step with this action, from the start.
inline double reward_of(const std::string& text, const std::vector<double>& action = {0.25, -0.5}) {
  const std::shared_ptr<const Task> task = task_of_text(text);
  std::vector<double> input(static_cast<std::size_t>(task->spec().states));
  RandomStream random(1, Purpose::kTest);
  task->reset(random, input);
  input.insert(input.end(), action.begin(), action.end());
  return evaluate(task->trace_step(), input)[static_cast<std::size_t>(task->layout().reward())];
}
inline double value_of(const std::string& expression) { return reward_of(with_reward(expression)); }

// The sentence with which a text is refused.
inline std::string refusal_of(const std::string& text) {
  try {
    task_of_text(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace cgpo::testing
