// The velocity tasks against Gymnasium's robots as their documentation has them, on MuJoCo's own functions: one mjData
// that lives through an episode, where ours is filled from the state at each step.
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/evaluate.hpp"
#include "cgpo/physics/mujoco/handle.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "episodes.hpp"

namespace cgpo {
namespace {

using Numbers = std::vector<double>;

struct Original {
  const char* robot;
  const char* name;
  int frames;
  double limit;
};
constexpr Original kOriginals[] = {
    {"ant", "SafetyAntVelocity-v1", 5, 2.6222},         {"halfcheetah", "SafetyHalfCheetahVelocity-v1", 5, 3.2096},
    {"hopper", "SafetyHopperVelocity-v1", 4, 0.7402},   {"humanoid", "SafetyHumanoidVelocity-v1", 5, 1.4149},
    {"swimmer", "SafetySwimmerVelocity-v1", 4, 0.2282}, {"walker2d", "SafetyWalker2dVelocity-v1", 4, 2.3415}};

struct Outcome {
  Numbers observation;
  double reward = 0.0, cost = 0.0;
  bool ended = false;
};

class Reference {
 public:
  explicit Reference(const Original& original)
      : robot_(original.robot),
        original_(original),
        model_(compile_text(std::string(model_text("velocity_" + robot_)), robot_)),
        data_(mj_makeData(model_.get())) {}

  void set(const Numbers& state) {
    std::copy_n(state.begin(), model_->nq, data_->qpos);
    std::copy_n(state.begin() + model_->nq, model_->nv, data_->qvel);
  }
  void begin(const Numbers& state) {
    mj_resetData(model_.get(), data_.get());
    set(state);
    mj_forward(model_.get(), data_.get());
  }

  Outcome step(const Numbers& control) {
    std::copy(control.begin(), control.end(), data_->ctrl);
    const std::array<double, 2> before = place();
    for (int i = 0; i < original_.frames; ++i) mj_step(model_.get(), data_.get());
    mj_rnePostConstraint(model_.get(), data_.get());
    const std::array<double, 2> after = place();
    const double seconds = model_->opt.timestep * original_.frames;
    const double vx = (after[0] - before[0]) / seconds;
    const double vy = (after[1] - before[1]) / seconds;
    double squares = 0.0;
    for (const double u : control) squares += u * u;
    Outcome result{observe()};
    const bool everywhere = robot_ == "ant" || robot_ == "humanoid";
    result.cost = (everywhere ? std::hypot(vx, vy) : vx) > original_.limit ? 1.0 : 0.0;
    const double* const q = data_->qpos;
    if (robot_ == "ant") {
      result.reward = vx + 1.0 - 0.5 * squares;
      result.ended = !(0.2 <= q[2] && q[2] <= 1.0);
    } else if (robot_ == "halfcheetah") {
      result.reward = vx - 0.1 * squares;
    } else if (robot_ == "swimmer") {
      result.reward = vx - 1e-4 * squares;
    } else if (robot_ == "humanoid") {
      result.reward = 1.25 * vx + 5.0 - 0.1 * squares;
      result.ended = !(1.0 < q[2] && q[2] < 2.0);
    } else {
      result.reward = vx + 1.0 - 1e-3 * squares;
      const bool hops = robot_ == "hopper";
      bool healthy = hops ? q[1] > 0.7 && std::abs(q[2]) < 0.2 : 0.8 < q[1] && q[1] < 2.0 && std::abs(q[2]) < 1.0;
      for (int i = 2; hops && i < model_->nq; ++i) healthy = healthy && std::abs(q[i]) < 100.0;
      for (int i = 0; hops && i < model_->nv; ++i) healthy = healthy && std::abs(data_->qvel[i]) < 100.0;
      result.ended = !healthy;
    }
    return result;
  }

  Numbers observe() const {
    const bool clipped = robot_ == "hopper" || robot_ == "walker2d";
    const int hidden = clipped || robot_ == "halfcheetah" ? 1 : 2;
    Numbers seen(data_->qpos + hidden, data_->qpos + model_->nq);
    for (int i = 0; i < model_->nv; ++i) {
      seen.push_back(clipped ? std::clamp(data_->qvel[i], -10.0, 10.0) : data_->qvel[i]);
    }
    if (robot_ != "humanoid") return seen;
    seen.insert(seen.end(), data_->cinert, data_->cinert + 10 * model_->nbody);
    seen.insert(seen.end(), data_->cvel, data_->cvel + 6 * model_->nbody);
    seen.insert(seen.end(), data_->qfrc_actuator, data_->qfrc_actuator + model_->nv);
    seen.insert(seen.end(), data_->cfrc_ext, data_->cfrc_ext + 6 * model_->nbody);
    return seen;
  }
  const mjModel& model() const { return *model_; }

 private:
  // Where the original measures: a body's frame or the centre of masses as the last stage of a step left them.
  std::array<double, 2> place() const {
    if (robot_ == "ant") {
      const mjtNum* const torso = data_->xpos + 3 * mj_name2id(model_.get(), mjOBJ_BODY, "torso");
      return {torso[0], torso[1]};
    }
    if (robot_ != "humanoid") return {data_->qpos[0], data_->qpos[1]};
    std::array<double, 2> sum{};
    double mass = 0.0;
    for (int body = 0; body < model_->nbody; ++body) {
      mass += model_->body_mass[body];
      for (std::size_t k = 0; k < 2; ++k)
        sum[k] += model_->body_mass[body] * data_->xipos[3 * body + static_cast<int>(k)];
    }
    return {sum[0] / mass, sum[1] / mass};
  }

  std::string robot_;
  Original original_;
  MujocoModel model_;
  MujocoData data_;
};

class Ours {
 public:
  explicit Ours(const Original& original)
      : task_(standard_task(original.name)), simulator_(make_simulator<double>(task_, {0})) {}

  const Task& task() const { return *task_; }
  Numbers observe(Numbers state) {
    Numbers seen(static_cast<std::size_t>(task_->spec().observations));
    simulator_->observe(Rows<const double>(state.data(), 1), Rows<double>(seen.data(), 1), 1, scratch_);
    return seen;
  }
  // `state` becomes the next.
  Outcome step(Numbers& state, const Numbers& action) {
    Numbers next(state.size()), signals(2), paper(1), ended(1);
    Outcome result{Numbers(static_cast<std::size_t>(task_->spec().observations))};
    simulator_->step(
        {Rows<const double>(state.data(), 1), Rows<const double>(action.data(), 1), Rows<double>(next.data(), 1),
         Rows<double>(result.observation.data(), 1), Rows<double>(signals.data(), 1), paper.data(), ended.data()},
        1, scratch_);
    state = next;
    EXPECT_EQ(signals[0], paper[0]);
    result.reward = signals[0];
    result.cost = signals[1];
    result.ended = ended[0] != 0.0;
    return result;
  }

 private:
  std::shared_ptr<const Task> task_;
  std::unique_ptr<Simulator<double>> simulator_;
  SimulatorScratch<double> scratch_;
};

void expect_same(const Numbers& ours, const Numbers& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_NEAR(ours[i], theirs[i], 1e-6 * (1.0 + std::abs(theirs[i]))) << i;
}

// A push along x takes half of the episodes over the limit; random actions end those of robots that fall.
TEST(Velocity, EpisodesAreThoseOfTheOriginal) {
  for (const Original& original : kOriginals) {
    SCOPED_TRACE(original.name);
    Ours ours(original);
    Reference reference(original);
    const TaskSpec& spec = ours.task().spec();
    EXPECT_EQ(spec.horizon, 1000);
    EXPECT_EQ(spec.costs.at(0).limit, 25.0);
    EXPECT_NEAR(spec.dt * spec.substeps, reference.model().opt.timestep * original.frames, 1e-15);
    const double range = reference.model().actuator_ctrlrange[1];
    RandomStream random(4, Purpose::kTest);
    int over = 0;
    int under = 0;
    int ended = 0;
    for (std::uint32_t episode = 0; episode < 6; ++episode) {
      Numbers state = reset_state(ours.task(), episode);
      if (episode % 2 == 1) {
        state[static_cast<std::size_t>(reference.model().nq)] += 3.0 * original.limit;
        if (original.name == std::string("SafetyAntVelocity-v1"))
          state[static_cast<std::size_t>(reference.model().nq) + 1] += 1.0;
      }
      reference.begin(state);
      for (int t = 0; t < 120; ++t) {
        Numbers action(static_cast<std::size_t>(spec.actions));
        for (double& a : action) a = random.uniform(-1.0, 1.0);
        Numbers control = action;
        for (double& u : control) u *= range;
        const Outcome mine = ours.step(state, action);
        const Outcome theirs = reference.step(control);
        expect_same(mine.observation, theirs.observation);
        EXPECT_NEAR(mine.reward, theirs.reward, 1e-6 * (1.0 + std::abs(theirs.reward)));
        EXPECT_EQ(mine.cost, theirs.cost);
        EXPECT_EQ(mine.ended, theirs.ended);
        if (HasFailure()) return;
        reference.set(state);  // what solvers leave open does not grow
        ++(theirs.cost == 1.0 ? over : under);
        ended += theirs.ended ? 1 : 0;
        if (theirs.ended) break;
      }
    }
    EXPECT_GT(over, 0);
    EXPECT_GT(under, 0);
    const bool falls = original.robot != std::string("swimmer") && original.robot != std::string("halfcheetah");
    EXPECT_EQ(ended > 0, falls);
  }
}

TEST(Velocity, StartsAreThoseOfTheOriginal) {
  for (const Original& original : kOriginals) {
    SCOPED_TRACE(original.name);
    Ours ours(original);
    Reference reference(original);
    const mjModel& model = reference.model();
    const std::string robot = original.robot;
    const double width = robot == "humanoid" ? 0.01 : robot == "hopper" || robot == "walker2d" ? 0.005 : 0.1;
    const bool normal = robot == "ant" || robot == "halfcheetah";
    const bool turns = model.jnt_type[0] == mjJNT_FREE;
    constexpr std::uint32_t kStarts = 400;
    Numbers low(static_cast<std::size_t>(model.nq), 1e9), high(low.size(), -1e9);
    double squares = 0.0;
    double farthest = 0.0;
    for (std::uint32_t i = 0; i < kStarts; ++i) {
      const Numbers state = reset_state(ours.task(), i);
      for (std::size_t k = 0; k < low.size(); ++k) {
        low[k] = std::min(low[k], state[k] - model.qpos0[k]);
        high[k] = std::max(high[k], state[k] - model.qpos0[k]);
      }
      for (std::size_t k = low.size(); k < low.size() + static_cast<std::size_t>(model.nv); ++k) {
        squares += state[k] * state[k] / (kStarts * static_cast<double>(model.nv));
        farthest = std::max(farthest, std::abs(state[k]));
      }
      if (i < 5) {
        reference.begin(state);
        expect_same(ours.observe(state), reference.observe());
      }
    }
    for (std::size_t k = 0; k < low.size(); ++k) {
      if (turns && k >= 3 && k < 7) continue;  // of length one again
      EXPECT_NEAR(low[k], -width, 0.05 * width);
      EXPECT_NEAR(high[k], width, 0.05 * width);
    }
    EXPECT_NEAR(std::sqrt(squares), normal ? width : width / std::sqrt(3.0), 0.05 * width);
    EXPECT_EQ(farthest > width, normal);
  }
}

// On MuJoCo the cost is 0 or 1, and its slope that of a logistic function of the speed, as wide as the option says.
TEST(Velocity, CostHasASlope) {
  for (const Original& original : kOriginals) {
    SCOPED_TRACE(original.name);
    const double width = 0.3;
    const auto task = task_with(original.name, {{"slope_width", width}});
    const StepLayout layout = task->layout();
    const TaskSpec& spec = task->spec();
    const Numbers start = reset_state(*task, 1);
    const bool kept = spec.states > task->find_robot()->model->nq + task->find_robot()->model->nv;
    const std::size_t place =
        kept ? static_cast<std::size_t>(task->find_robot()->model->nq + task->find_robot()->model->nv) : 0;
    const double period = spec.dt * spec.substeps;
    for (const double speed : {0.5 * original.limit, original.limit + 0.1, original.limit + 1.0}) {
      Numbers next = start;
      next[place] += speed * period;
      Numbers inputs = start;
      inputs.resize(inputs.size() + static_cast<std::size_t>(spec.actions));
      inputs.insert(inputs.end(), next.begin(), next.end());
      EXPECT_EQ(evaluate(task->trace_outcome(), inputs)[static_cast<std::size_t>(layout.cost(0))],
                speed > original.limit ? 1.0 : 0.0);
      const Graph smooth = with_outputs(task->twin()->trace_outcome(), std::array<int, 1>{layout.cost(0)});
      const double expected = 1.0 / (1.0 + std::exp(-(speed - original.limit) / width));
      EXPECT_NEAR(evaluate(smooth, inputs)[0], expected, 1e-3);
      const int x = spec.states + spec.actions + static_cast<int>(place);
      Numbers seeded = inputs;
      seeded.push_back(1.0);
      const double slope = evaluate(differentiate(smooth, {.seeds = {{0}}, .wrt = {x}}), seeded)[0];
      EXPECT_NEAR(slope, expected * (1.0 - expected) / (width * period), 5e-3 / (width * period));
    }
  }
}

}  // namespace
}  // namespace cgpo
