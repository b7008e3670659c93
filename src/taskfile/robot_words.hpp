// What expressions can say of a robot, for those who write task files by program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/tasks/task.hpp"

namespace cgpo {

// One moment of an episode in plain numbers, to look at what expressions give there.
struct RobotMoment {
  std::vector<double> qpos, qvel;
  std::vector<double> activation = {};       // none: all are 0
  std::vector<double> action = {};           // none: it is not known
  std::vector<double> previous_action = {};  // none: all are 0
  double time = 0.0;                         // s
};

class RobotWords {
 public:
  // Of a task with a robot.
  explicit RobotWords(std::shared_ptr<const Task> task);

  // Its sizes, all that has a name in its file, and the names and members that expressions know.
  Json describe() const;

  // How many numbers an expression gives; nothing: one by itself, which is no vector. With the action, as after a step;
  // without, as in an observation. Throws UserError, with place, for what cannot be said.
  std::optional<int> size(const std::string& expression, bool with_action) const;
  // The numbers themselves, and whether they are a vector.
  struct Value {
    std::vector<double> numbers;
    bool is_vector = false;
  };
  Value value(const std::string& expression, const RobotMoment& moment) const;

 private:
  std::shared_ptr<const Task> task_;
};

}  // namespace cgpo
