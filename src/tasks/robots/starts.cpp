#include "cgpo/tasks/robots/starts.hpp"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cgpo {

void finish_resets(const FinishStart& finish, TaskParts& parts) {
  parts.reset = [finish, reset = parts.reset](RandomStream& random, std::span<double> state) {
    reset(random, state);
    finish(state);
  };
  parts.reset_in_batch = [finish, reset = parts.reset_in_batch](RandomStream& random, const BatchPlace& place,
                                                                std::span<double> state) {
    reset(random, place, state);
    finish(state);
  };
}

FinishStart look_with_mujoco(const std::shared_ptr<const Robot>& robot,
                             std::function<void(MujocoEngine& engine, std::span<double> state)> take) {
  struct Shared {
    std::mutex mutex;
    std::optional<MujocoEngine> engine;  // made when it is first needed
  };
  return [robot, take = std::move(take), shared = std::make_shared<Shared>()](std::span<double> state) {
    const std::lock_guard lock(shared->mutex);
    if (!shared->engine) shared->engine = make_mujoco_engine(*robot);
    MujocoEngine& engine = *shared->engine;
    const RobotState<double> start(*robot->model, std::span<const double>(state));
    engine.set_state(start.q, start.v, start.activation);
    std::vector<double> control;
    for (std::size_t i = 0; i < robot->model->actuators.size(); ++i) control.push_back(robot->control(i, 0.0));
    engine.forward(control);
    take(engine, state);
  };
}

}  // namespace cgpo
