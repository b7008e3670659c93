// The adjoint of a window of ten steps against central differences, and against forward mode, on every robot; states
// come from random motion, so that feet and joint limits press.
#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

constexpr int kWindow = 10;

using Lanes = std::vector<double>;  // [row · lanes + lane]

// L = Σ_t Σ_k w_k signal_k(t) + λᵀ state(end) + μᵀ observation(end), of start state and all actions.
class Window {
 public:
  Window(const std::string& name, int lanes)
      : task_(task_with(name, {{"engine", std::string("own")}})),
        simulator_(task_, {0}),
        spec_(task_->spec()),
        lanes_(lanes),
        random_(11, Purpose::kTest) {
    terminal_ = draw(spec_.states);
    observed_ = draw(spec_.observations);
    weights_ = draw(2);
  }

  const TaskSpec& spec() const { return spec_; }
  const Task& task() const { return *task_; }

  Lanes draw(int rows) {
    Lanes values(static_cast<std::size_t>(rows * lanes_));
    for (double& value : values) value = random_.uniform(-1.0, 1.0);
    return values;
  }
  Lanes draw_actions() { return draw(spec_.actions * kWindow); }

  // States after `steps` random steps.
  Lanes wander(int steps) {
    Lanes state(static_cast<std::size_t>(spec_.states * lanes_));
    for (int lane = 0; lane < lanes_; ++lane) {
      const std::vector<double> start = reset_state(*task_, static_cast<std::uint32_t>(lane));
      for (int i = 0; i < spec_.states; ++i) state[index(i, lane)] = start[static_cast<std::size_t>(i)];
    }
    for (int t = 0; t < steps; ++t) state = step(state, draw(spec_.actions)).next;
    return state;
  }

  // L of every lane.
  Lanes loss(Lanes state, const Lanes& actions) {
    Lanes sum(static_cast<std::size_t>(lanes_));
    Result result;
    for (int t = 0; t < kWindow; ++t) {
      result = step(state, actions_at(actions, t));
      for (int lane = 0; lane < lanes_; ++lane) {
        for (int k = 0; k < 2; ++k) sum[at(lane)] += weights_[index(k, lane)] * result.signals[index(k, lane)];
      }
      state = result.next;
    }
    for (int lane = 0; lane < lanes_; ++lane) {
      for (int i = 0; i < spec_.states; ++i) sum[at(lane)] += terminal_[index(i, lane)] * state[index(i, lane)];
      for (int i = 0; i < spec_.observations; ++i)
        sum[at(lane)] += observed_[index(i, lane)] * result.observation[index(i, lane)];
    }
    return sum;
  }

  // ∂L/∂state, then ∂L/∂actions, by the compiled adjoint. Each seed carries one signal; both start from half of λ and
  // μ.
  Lanes gradient(const Lanes& start, const Lanes& actions) {
    std::vector<Lanes> states = {start};
    for (int t = 0; t < kWindow; ++t) states.push_back(step(states.back(), actions_at(actions, t)).next);
    Lanes adjoint = twice(terminal_);
    Lanes observed = twice(observed_);
    Lanes result(static_cast<std::size_t>((spec_.states + spec_.actions * kWindow) * lanes_));
    for (int t = kWindow - 1; t >= 0; --t) {
      Lanes action = actions_at(actions, t);
      Lanes before(adjoint.size());
      Lanes action_adjoint(static_cast<std::size_t>(2 * spec_.actions * lanes_));
      simulator_.pull_back({rows(states[static_cast<std::size_t>(t)]), rows(action), rows(adjoint), rows(observed),
                            rows(weights_), rows(before), rows(action_adjoint)},
                           lanes_, scratch_);
      for (int i = 0; i < spec_.actions; ++i) {
        for (int lane = 0; lane < lanes_; ++lane) {
          result[index(spec_.states + t * spec_.actions + i, lane)] =
              action_adjoint[index(i, lane)] + action_adjoint[index(spec_.actions + i, lane)];
        }
      }
      adjoint = before;
      std::fill(observed.begin(), observed.end(), 0.0);
    }
    for (int i = 0; i < spec_.states; ++i) {
      for (int lane = 0; lane < lanes_; ++lane)
        result[index(i, lane)] = adjoint[index(i, lane)] + adjoint[index(spec_.states + i, lane)];
    }
    return result;
  }

  // dL along a direction of start state and actions, by forward mode.
  Lanes directional(const Lanes& start, const Lanes& actions, const Lanes& direction) {
    if (tangent_ == nullptr) tangent_ = compile<double>(differentiate_forward(step_graph(*task_, {0})));
    const int results = spec_.states + spec_.observations + 4;
    Lanes state = start;
    Lanes moving(direction.begin(), direction.begin() + spec_.states * lanes_);
    Lanes sum(static_cast<std::size_t>(lanes_));
    Lanes output(static_cast<std::size_t>(results * lanes_));
    for (int t = 0; t < kWindow; ++t) {
      Lanes action = actions_at(actions, t);
      Lanes turn(direction.begin() + (spec_.states + t * spec_.actions) * lanes_,
                 direction.begin() + (spec_.states + (t + 1) * spec_.actions) * lanes_);
      std::vector<const double*> inputs;
      for (const Lanes* part : {&state, &action, &moving, &turn}) {
        for (std::size_t r = 0; r < part->size(); r += static_cast<std::size_t>(lanes_)) inputs.push_back(&(*part)[r]);
      }
      std::vector<double*> outputs;
      for (int r = 0; r < results; ++r) outputs.push_back(&output[index(r, 0)]);
      tangent_->run(inputs.data(), outputs.data(), lanes_, scratch_.kernel);
      for (int lane = 0; lane < lanes_; ++lane) {
        for (int k = 0; k < 2; ++k)
          sum[at(lane)] += weights_[index(k, lane)] * output[index(spec_.states + spec_.observations + k, lane)];
      }
      std::copy(output.begin(), output.begin() + spec_.states * lanes_, moving.begin());
      state = step(state, action).next;
    }
    for (int lane = 0; lane < lanes_; ++lane) {
      for (int i = 0; i < spec_.states; ++i) sum[at(lane)] += terminal_[index(i, lane)] * output[index(i, lane)];
      for (int i = 0; i < spec_.observations; ++i)
        sum[at(lane)] += observed_[index(i, lane)] * output[index(spec_.states + i, lane)];
    }
    return sum;
  }

  std::size_t index(int row, int lane) const { return static_cast<std::size_t>(row * lanes_ + lane); }
  static std::size_t at(int lane) { return static_cast<std::size_t>(lane); }

 private:
  struct Result {
    Lanes next, observation, signals;
  };
  Rows<double> rows(Lanes& values) const { return {values.data(), lanes_}; }
  Lanes actions_at(const Lanes& actions, int t) const {
    return {actions.begin() + t * spec_.actions * lanes_, actions.begin() + (t + 1) * spec_.actions * lanes_};
  }
  static Lanes twice(const Lanes& values) {
    Lanes result;
    for (int k = 0; k < 2; ++k) {
      for (const double value : values) result.push_back(0.5 * value);
    }
    return result;
  }
  Result step(Lanes state, Lanes action) {
    Result result{Lanes(state.size()), Lanes(static_cast<std::size_t>(spec_.observations * lanes_)),
                  Lanes(static_cast<std::size_t>(2 * lanes_))};
    Lanes paper(static_cast<std::size_t>(lanes_)), ended(paper.size());
    simulator_.step({rows(state), rows(action), rows(result.next), rows(result.observation), rows(result.signals),
                     paper.data(), ended.data()},
                    lanes_, scratch_);
    return result;
  }

  std::shared_ptr<const Task> task_;
  SubstepSimulator<double> simulator_;
  TaskSpec spec_;
  int lanes_;
  RandomStream random_;
  SimulatorScratch<double> scratch_;
  std::unique_ptr<Kernel<double>> tangent_;
  Lanes terminal_, observed_, weights_;
};

void check_window(const std::string& name, int lanes, int wander) {
  SCOPED_TRACE(name);
  Window window(name, lanes);
  const TaskSpec& spec = window.spec();
  const Lanes state = window.wander(wander);
  const Lanes actions = window.draw_actions();
  const Lanes gradient = window.gradient(state, actions);
  const int inputs = spec.states + spec.actions * kWindow;
  // Differences of each size; the best one counts, as a larger step is curved and a smaller one rounded.
  std::vector<double> largest(static_cast<std::size_t>(lanes)), best(largest.size(), 1e300);
  for (const double size : {1e-6, 1e-7, 1e-8, 1e-9}) {
    std::vector<double> error(largest.size());
    for (int i = 0; i < inputs; ++i) {
      const auto shifted = [&](double by) {
        Lanes x = state;
        Lanes a = actions;
        for (int lane = 0; lane < lanes; ++lane) {
          (i < spec.states ? x[window.index(i, lane)] : a[window.index(i - spec.states, lane)]) += by;
        }
        return window.loss(x, a);
      };
      const Lanes up = shifted(size);
      const Lanes down = shifted(-size);
      for (int lane = 0; lane < lanes; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        const double exact = gradient[window.index(i, lane)];
        largest[l] = std::max(largest[l], std::abs(exact));
        error[l] = std::max(error[l], std::abs(exact - (up[l] - down[l]) / (2 * size)));
      }
    }
    bool good = true;
    for (std::size_t l = 0; l < best.size(); ++l) {
      best[l] = std::min(best[l], error[l]);
      good = good && best[l] < 1e-6 * largest[l];
    }
    if (good) break;
  }
  for (std::size_t l = 0; l < largest.size(); ++l) EXPECT_LT(best[l], 1e-6 * largest[l]) << "lane " << l;

  const Lanes direction = window.draw(inputs);
  const Lanes forward = window.directional(state, actions, direction);
  for (int lane = 0; lane < lanes; ++lane) {
    double reverse = 0.0;
    double scale = 0.0;
    for (int i = 0; i < inputs; ++i) {
      const double term = gradient[window.index(i, lane)] * direction[window.index(i, lane)];
      reverse += term;
      scale += std::abs(term);
    }
    EXPECT_NEAR(forward[static_cast<std::size_t>(lane)], reverse, 1e-12 * scale) << "lane " << lane;
  }
}

// Fraction of states in which a foot presses.
double touching(const std::string& name, int lanes, int wander) {
  Window window(name, lanes);
  const Model model = load_model_from_text(std::string(model_text(name)), name);
  const Lanes states = window.wander(wander);
  int count = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<double> state;
    for (int i = 0; i < window.spec().states; ++i) state.push_back(states[window.index(i, lane)]);
    const RobotState<double> robot(model, state);
    double lowest = 1.0;
    for (const ContactPoint& point : model.contacts) {
      lowest = std::min(lowest, robot.position(point.body, point.body_position)[2] - point.radius);
    }
    if (lowest < 0.0) ++count;
  }
  return static_cast<double>(count) / lanes;
}

TEST(WindowAdjoint, CartPole) { check_window("cartpole", 8, 0); }
TEST(WindowAdjoint, CartPoleAtItsLimits) { check_window("cartpole", 8, 60); }
TEST(WindowAdjoint, Reacher) { check_window("reacher", 8, 30); }
TEST(WindowAdjoint, Swimmer) { check_window("swimmer", 8, 30); }
TEST(WindowAdjoint, HalfCheetah) {
  check_window("halfcheetah", 8, 20);
  EXPECT_GT(touching("halfcheetah", 8, 20), 0.4);
}
TEST(WindowAdjoint, Ant) {
  check_window("ant", 8, 6);  // later, most of them are in the air
  EXPECT_GT(touching("ant", 8, 6), 0.4);
}
TEST(WindowAdjoint, LeggedRobots) {
  for (const char* name : {"hopper", "walker2d", "humanoid", "quadruped"}) {
    SCOPED_TRACE(name);
    check_window(name, 8, 10);
    EXPECT_GT(touching(name, 8, 10), 0.4);
  }
}
// With the smooth step in place of their costs, and places that follow from where the robot is.
TEST(WindowAdjoint, VelocityTasks) {
  for (const char* robot : {"Ant", "HalfCheetah", "Hopper", "Humanoid", "Swimmer", "Walker2d"}) {
    check_window(std::string("Safety") + robot + "Velocity-v1", 4, 10);
  }
}

}  // namespace
}  // namespace cgpo
