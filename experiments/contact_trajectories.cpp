#include "contact_trajectories.hpp"

#include <array>
#include <cmath>
#include <fmt/core.h>
#include <functional>

#include "cgpo/physics/mujoco/engine.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "contact_swarm.hpp"

namespace cgpo::contact {
namespace {

constexpr double kFine = 0.001;  // s, MuJoCo's fine step

// Control as a function of time.
using Control = std::function<std::vector<double>(double)>;
using Series = std::vector<double>;

struct Scene {
  std::string xml;
  Model model;
  PhysicsState<double> start;
  Control control;
  int height = 0;       // entry of q
  double every = 0.01;  // s between entries of a series
  int entries = 0;
};

Series with_mujoco(const Scene& scene, double dt) {
  MujocoEngine engine = MujocoEngine::from_text(scene.xml);
  engine.set_timestep(dt);
  engine.set_state(scene.start.q, scene.start.v);
  Series series;
  for (int i = 0; i < scene.entries; ++i) {
    engine.step(scene.control(i * scene.every), static_cast<int>(std::lround(scene.every / dt)));
    series.push_back(engine.q()[static_cast<std::size_t>(scene.height)]);
  }
  return series;
}

Series with_own(const Scene& scene, const PhysicsParameters& parameters) {
  PhysicsState<double> state = scene.start;
  Series series;
  for (int i = 0; i < scene.entries; ++i) {
    const std::vector<double> control = scene.control(i * scene.every);
    for (int k = 0; k < static_cast<int>(std::lround(scene.every / parameters.timestep)); ++k) {
      state = physics_step(scene.model, parameters, state, std::span<const double>(control));
    }
    series.push_back(state.q[static_cast<std::size_t>(scene.height)]);
  }
  return series;
}

// The parameters that a task chooses.
PhysicsParameters standard(const std::string& robot) {
  const TaskEntry& entry = find_task(robot);
  const TaskOptions options(entry.options);
  PhysicsParameters parameters;
  parameters.timestep = standard_task(robot)->spec().dt;
  parameters.limit = {options.number("limit_stiffness"), options.number("limit_damping"),
                      options.number("limit_width")};
  parameters.contact = {options.number("contact_stiffness"), options.number("contact_damping"),
                        options.number("contact_width"), options.number("slip_speed"), options.number("slip_lift")};
  return parameters;
}

std::array<Series, 4> on_all(const Scene& scene, const PhysicsParameters& chosen) {
  PhysicsParameters flat = chosen;
  flat.contact.slip_lift = 0.0;
  return {with_mujoco(scene, 0.01), with_mujoco(scene, kFine), with_own(scene, chosen), with_own(scene, flat)};
}

void print_series(double every, std::span<const Series> columns) {
  for (std::size_t i = 0; i < columns.front().size(); ++i) {
    fmt::print("{:.3f}", every * static_cast<double>(i + 1));
    for (const Series& column : columns) fmt::print(",{:.4f}", column[i]);
    fmt::print("\n");
  }
}

constexpr const char* kBall = R"(<mujoco><option timestep="0.01"/><worldbody>
  <geom name="floor" type="plane" size="9 9 1" friction="1"/>
  <body name="ball" pos="0 0 0.08"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="ball" type="sphere" size="0.08" mass="0.3" friction="1"/></body></worldbody>
  <actuator><motor joint="x"/></actuator></mujoco>)";

}  // namespace

void print_falls() {
  const std::string xml(model_text("ant"));
  const Model model = load_model_from_text(xml, "ant");
  PhysicsState<double> standing{model.q0, std::vector<double>(static_cast<std::size_t>(model.nv))};
  for (const int leg : {0, 1, 2, 3})
    standing.q[static_cast<std::size_t>(8 + 2 * leg)] = leg == 0 || leg == 3 ? 1.0 : -1.0;
  PhysicsState<double> lifted = standing;
  lifted.q[2] = 0.8;
  const Control none = [](double) { return std::vector<double>(8); };
  // The ankles of legs 4, 1, 2, 3 are controls 1, 3, 5, 7; those of legs 2 and 3 turn the other way.
  const Control strike = [](double t) {
    const double a = t < 0.0499 ? -0.5 : t < 0.0999 ? 1.0 : 0.0;
    return std::vector<double>{0, a, 0, a, 0, -a, 0, -a};
  };
  const PhysicsParameters chosen = standard("ant");
  std::vector<Series> columns;
  for (const Scene& scene :
       {Scene{xml, model, lifted, none, 2, 0.01, 100}, Scene{xml, model, standing, strike, 2, 0.01, 100}}) {
    for (Series& series : on_all(scene, chosen)) columns.push_back(std::move(series));
  }
  fmt::print(
      "t,drop MuJoCo 10 ms,drop MuJoCo 1 ms,drop chosen,drop without lift,strike MuJoCo 10 ms,"
      "strike MuJoCo 1 ms,strike chosen,strike without lift\n");
  print_series(0.01, columns);
}

void print_slides() {
  const Model model = load_model_from_text(kBall, "ball");
  PhysicsState<double> start{{0.0, 0.0}, {3.0, 0.0}};
  const Scene scene{kBall, model, start, [](double) { return std::vector<double>(1); }, 1, 0.01, 60};
  fmt::print("t,MuJoCo 10 ms,MuJoCo 1 ms,chosen,without lift\n");
  print_series(scene.every, on_all(scene, standard("ant")));
}

void print_random(const std::string& robot) {
  std::vector<Series> columns(4);
  for (const bool own : {true, false}) {
    Options options = {{"engine", std::string(own ? "own" : "mujoco")}};
    if (robot == "ant") options.emplace_back("ending", std::string("none"));
    Swarm<double> swarm(task_with(robot, options), {}, 1);
    for (int t = 0; t < 40; ++t) {
      swarm.step(1.0);
      const std::vector<double> state = swarm.state(0);
      columns[own ? 0 : 2].push_back(robot == "ant" ? state[2] : 0.7 + state[1]);
      columns[own ? 1 : 3].push_back(state[0]);
    }
  }
  fmt::print("t,height own,x own,height MuJoCo,x MuJoCo\n");
  print_series(0.05, columns);
}

}  // namespace cgpo::contact
