#include "cgpo/studies/robot_trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/random.hpp"
#include "cgpo/kernel/kernel.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {
namespace {

constexpr int kEpisodes = 8;         // in double: what a vector of AVX-512 holds
constexpr int kTimedLanes = 32;      // in single precision: a block of training
constexpr double kTiming = 0.02;     // seconds
constexpr int kMostTimed = 300'000;  // operations; making a kernel of more than that takes seconds

// The rows of one kernel: (state, control) → next state.
template <class Real>
class SubstepLanes {
 public:
  SubstepLanes(const Graph& graph, const TaskSpec& spec, int lanes)
      : kernel_(compile<Real>(graph)),
        states_(static_cast<std::size_t>(spec.states)),
        lanes_(static_cast<std::size_t>(lanes)),
        values_((2 * states_ + static_cast<std::size_t>(spec.actions)) * lanes_) {
    const auto row = [&](std::size_t i) { return values_.data() + i * lanes_; };
    for (std::size_t i = 0; i < states_; ++i) inputs_.push_back(row(i));
    for (std::size_t i = 0; i < states_; ++i) outputs_.push_back(row(states_ + i));
    for (std::size_t i = 2 * states_; i * lanes_ < values_.size(); ++i) inputs_.push_back(row(i));
  }

  Real& state(std::size_t i, std::size_t lane) { return values_[i * lanes_ + lane]; }
  Real& next(std::size_t i, std::size_t lane) { return values_[(states_ + i) * lanes_ + lane]; }
  Real& control(std::size_t i, std::size_t lane) { return values_[(2 * states_ + i) * lanes_ + lane]; }
  std::size_t states() const { return states_; }
  void start(const std::vector<double>& state_of_all) {
    for (std::size_t i = 0; i < states_; ++i) {
      for (std::size_t lane = 0; lane < lanes_; ++lane) state(i, lane) = static_cast<Real>(state_of_all[i]);
    }
  }
  void run() { kernel_->run(inputs_.data(), outputs_.data(), static_cast<int>(lanes_), scratch_); }
  const Kernel<Real>& kernel() const { return *kernel_; }

 private:
  std::unique_ptr<Kernel<Real>> kernel_;
  std::size_t states_, lanes_;
  AlignedVector<Real> values_;
  std::vector<const Real*> inputs_;
  std::vector<Real*> outputs_;
  KernelScratch scratch_;
};

// What entry `i` of a state belongs to.
std::string name_of_entry(const Model& model, std::size_t entry) {
  const int i = static_cast<int>(entry);
  std::string name = fmt::format("state {}", i);
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.q > i && i < model.nq) break;
    if (joint.v + model.nq > i && i >= model.nq) break;
    if (i >= model.nq + model.nv) break;
    name = joint.name.empty() ? fmt::format("joint #{}", j) : fmt::format("joint '{}'", joint.name);
  }
  return name;
}

std::vector<double> draw_control(const Model& model, std::uint64_t seed, int episode, int step) {
  RandomStream random(seed, Purpose::kCheck, 1, static_cast<std::uint32_t>(episode), static_cast<std::uint32_t>(step));
  std::vector<double> control;
  for (const Actuator& actuator : model.actuators) {
    control.push_back(actuator.control_limited ? random.uniform(actuator.control_lower, actuator.control_upper)
                                               : random.uniform(-1.0, 1.0));
  }
  return control;
}

void draw_controls(const Model& model, std::uint64_t seed, int step, SubstepLanes<double>& lanes) {
  for (int lane = 0; lane < kEpisodes; ++lane) {
    const std::vector<double> control = draw_control(model, seed, lane, step);
    for (std::size_t i = 0; i < control.size(); ++i) lanes.control(i, static_cast<std::size_t>(lane)) = control[i];
  }
}

// Each step of the request is cut into `finer`.
void step_at_random(const Model& model, const TaskSpec& spec, const TrialRequest& request, int finer,
                    SubstepLanes<double>& lanes, RobotTrial& trial) {
  std::vector<bool> gone(kEpisodes, false);
  for (int step = 0; step < request.steps * finer && trial.diverged < kEpisodes; ++step) {
    if (step % (kTrialHold * finer) == 0) draw_controls(model, request.seed, step / finer, lanes);
    lanes.run();
    for (std::size_t lane = 0; lane < kEpisodes; ++lane) {
      for (std::size_t i = 0; i < lanes.states(); ++i) {
        const double value = lanes.next(i, lane);
        lanes.state(i, lane) = value;
        if (gone[lane] || std::abs(value) <= spec.divergence_bound) continue;
        gone[lane] = true;
        if (trial.diverged++ > 0) continue;
        trial.first_step = step / finer + 1;
        trial.where = name_of_entry(model, i);
      }
    }
  }
}

Task make_trial_task(const std::shared_ptr<const Model>& model, int finer) {
  const auto robot = std::make_shared<Robot>();
  robot->name = model->name;
  robot->model = model;
  robot->physics = suggest_parameters(*model);
  robot->physics.timestep /= finer;
  TaskParts parts;
  parts.spec = robot_spec(*robot, /*observations=*/0);
  add_robot_dynamics(robot, {}, /*smooth=*/nullptr, parts);
  return Task(std::move(parts));
}

// The smallest of some numbers to cut steps into with which none diverges; 0: none of them.
int find_finer(const std::shared_ptr<const Model>& model, const TrialRequest& request,
               const std::vector<double>& start) {
  for (const int finer : {2, 4, 8}) {
    const Task task = make_trial_task(model, finer);
    SubstepLanes<double> episodes(substep_graph(task), task.spec(), kEpisodes);
    episodes.start(start);
    RobotTrial trial;
    step_at_random(*model, task.spec(), request, finer, episodes, trial);
    if (trial.diverged == 0) return finer;
  }
  return 0;
}

// Seconds of a call, the fastest of some: whatever else runs here only ever slows it down.
template <class Call>
double fastest_call(Call call) {
  using Clock = std::chrono::steady_clock;
  double best = INFINITY;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const auto start = Clock::now();
  for (int n = 0; n < 3 || since(start) < kTiming; ++n) {
    const auto begin = Clock::now();
    call();
    best = std::min(best, since(begin));
  }
  return best;
}

}  // namespace

RobotTrial try_robot(const std::shared_ptr<const Model>& model, const TrialRequest& request) {
  const Task task = make_trial_task(model, 1);
  const Graph graph = substep_graph(task);
  std::vector<double> start(static_cast<std::size_t>(task.spec().states), 0.0);
  std::copy(model->q0.begin(), model->q0.end(), start.begin());

  RobotTrial trial;
  trial.steps = request.steps;
  trial.episodes = kEpisodes;
  SubstepLanes<double> episodes(graph, task.spec(), kEpisodes);
  episodes.start(start);
  step_at_random(*model, task.spec(), request, 1, episodes, trial);
  trial.operations = episodes.kernel().operations();
  trial.measured = trial.operations <= kMostTimed;
  if (trial.diverged > 0 && trial.measured) trial.finer = find_finer(model, request, start);
  if (trial.measured) {
    SubstepLanes<float> timed(graph, task.spec(), kTimedLanes);
    timed.start(start);
    trial.operations = timed.kernel().operations();
    trial.seconds = fastest_call([&] { timed.run(); }) / kTimedLanes;
  } else {  // twice as many numbers fit into a vector
    trial.seconds = 0.5 * fastest_call([&] { episodes.run(); }) / kEpisodes;
  }
  return trial;
}

int count_mujocos_divergences(const Model& model, MujocoEngine& engine, const TrialRequest& request) {
  const double bound = TaskSpec().divergence_bound;
  const auto lost = [bound](std::span<const double> values) {
    return std::any_of(values.begin(), values.end(), [bound](double x) { return !(std::abs(x) <= bound); });
  };
  const std::vector<double> rest(static_cast<std::size_t>(model.nv), 0.0);
  int diverged = 0;
  for (int episode = 0; episode < kEpisodes; ++episode) {
    engine.set_state(model.q0, rest);
    std::vector<double> control;
    for (int step = 0; step < request.steps; ++step) {
      if (step % kTrialHold == 0) control = draw_control(model, request.seed, episode, step);
      if (engine.step(control) && !lost(engine.q()) && !lost(engine.v())) continue;
      ++diverged;
      break;
    }
  }
  return diverged;
}

}  // namespace cgpo
