// Actuators of every kind against MuJoCo's: forces, activations, steps; and servos in steps that are too long for them.
#include "cgpo/physics/dynamics/actuation.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/physics/dynamics/step.hpp"
#include "cgpo/physics/mujoco/engine.hpp"

#include "simulate.hpp"

namespace cgpo {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A floating base with an arm of a hinge, a ball and a slide, and a hinge that stands by itself; sites and a tendon.
std::string rig(const std::string& actuators, const std::string& option = "") {
  return fmt::format(
      R"(<mujoco><option timestep="0.002"/>{}<worldbody>
           <site name="post" pos="0.3 -0.2 0.5" euler="20 30 40"/>
           <body name="base" pos="0 0 1" euler="10 20 30"><freejoint name="base"/>
             <geom type="box" size="0.3 0.2 0.1" contype="0" conaffinity="0"/>
             <site name="nozzle" pos="0.1 0.2 -0.1" euler="30 0 50"/>
             <body name="upper" pos="0.3 0 0" euler="0 15 0">
               <joint name="elbow" axis="0 1 0.2" pos="0 0.02 0" armature="0.05" damping="0.1"/>
               <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0" contype="0" conaffinity="0"/>
               <site name="palm" pos="0.2 0 0.1" euler="0 40 10"/>
               <body name="lower" pos="0.4 0 0"><joint name="wrist" type="ball" damping="0.2" armature="0.02"/>
                 <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0" contype="0" conaffinity="0"/>
                 <site name="tip" pos="0.2 0.05 0" euler="70 20 0"/>
                 <body name="claw" pos="0.2 0 0"><joint name="grip" type="slide" axis="1 0 1" armature="0.03"/>
                   <geom size="0.04" contype="0" conaffinity="0"/></body></body></body></body>
           <body name="wheel" pos="1 0 0"><joint name="wheel" axis="1 2 3" damping="0.05"/>
             <geom type="box" size="0.1 0.2 0.05" pos="0.05 0 0" contype="0" conaffinity="0"/>
             <site name="rim" pos="0.1 0.1 0" euler="0 0 33"/></body></worldbody>
         <tendon><fixed name="belt"><joint joint="elbow" coef="0.7"/><joint joint="wheel" coef="-1.2"/></fixed>
           <spatial name="rope"><site site="tip"/><site site="rim"/></spatial></tendon>
         <actuator>{}</actuator></mujoco>)",
      option, actuators);
}

// Largest difference of forces on joints and of activation rates, relative to the largest force.
double force_error(const std::string& xml, int states = 50) {
  const Model model = load_model_from_text(xml);
  EXPECT_THAT(model.unsupported, Not(Contains(StartsWith("actuator")))) << xml;
  MujocoEngine engine = MujocoEngine::from_text(xml);
  EXPECT_EQ(model.na, engine.na());
  double difference = 0.0;
  double largest = 0.0;
  for (std::uint32_t index = 0; index < static_cast<std::uint32_t>(states); ++index) {
    const RandomState state = random_state(model, 7, index);
    engine.set_state(state.q, state.v, state.activation);
    engine.forward(state.control);
    const SmoothDynamics<double> ours = smooth_dynamics(model, PhysicsState<double>{state.q, state.v, state.activation},
                                                        std::span<const double>(state.control));
    for (int i = 0; i < model.nv; ++i) {
      difference = std::max(difference, std::abs(ours.actuation[i] - engine.actuation()[i]));
      largest = std::max(largest, std::abs(engine.actuation()[i]));
    }
    for (int i = 0; i < model.na; ++i) {
      EXPECT_NEAR(ours.activation_rate[i], engine.activation_rate()[i],
                  1e-12 * std::max(1.0, std::abs(engine.activation_rate()[i])))
          << xml;
    }
  }
  EXPECT_GT(largest, 0.0) << xml;
  return difference / largest;
}

constexpr const char* kLaws[] = {
    R"(<motor TARGET gear="GEAR"/>)",
    R"(<motor TARGET gear="GEAR" ctrlrange="-0.5 0.7"/>)",
    R"(<position TARGET gear="GEAR" kp="3" kv="0.4"/>)",
    R"(<position TARGET gear="GEAR" kp="3" kv="0.4" ctrlrange="-0.5 1" forcerange="-1 2"/>)",
    R"(<position TARGET gear="GEAR" kp="5" timeconst="0.05"/>)",
    R"(<velocity TARGET gear="GEAR" kv="2"/>)",
    R"(<intvelocity TARGET gear="GEAR" kp="4" kv="0.3" actrange="-1 1.5"/>)",
    R"(<damper TARGET gear="GEAR" kv="2" ctrlrange="0 3"/>)",
    R"(<cylinder TARGET gear="GEAR" timeconst="0.2" area="0.5" bias="0.1 -2 -0.3"/>)",
    R"(<general TARGET gear="GEAR" gaintype="affine" gainprm="1 -0.5 0.3" biastype="affine" biasprm="0.2 0.4 -0.6"/>)",
    R"(<general TARGET gear="GEAR" dyntype="filter" dynprm="0.07" gainprm="2" actlimited="true" actrange="-1 0.5"/>)",
    R"(<general TARGET gear="GEAR" dyntype="filterexact" dynprm="0.003" gainprm="2" actearly="true"/>)",
    R"(<general TARGET gear="GEAR" dyntype="filter" dynprm="0.004" gainprm="2" actearly="true" actrange="-0.4 0.5"/>)",
    R"(<general TARGET gear="GEAR" dyntype="integrator" gainprm="3" biastype="affine" biasprm="0 -3 -0.1" actearly="true"/>)",
};

struct Target {
  const char* place;
  const char* gear;
};
constexpr Target kTargets[] = {
    {R"(joint="elbow")", "2"},
    {R"(joint="grip")", "-1.5"},
    {R"(jointinparent="grip")", "1.5"},
    {R"(joint="wrist")", "0.5 1 -2"},
    {R"(jointinparent="wrist")", "0.5 1 -2"},
    {R"(joint="wrist")", "0.05 0.1 -0.2"},
    {R"(joint="base")", "1 2 3 -1 0.5 2"},
    {R"(jointinparent="base")", "1 2 3 -1 0.5 2"},
    {R"(tendon="belt")", "1.3"},
    {R"(tendon="rope")", "-0.8"},
    {R"(site="nozzle")", "0.3 0 1 0 0.1 -0.4"},
    {R"(site="tip")", "0.3 -0.7 1 0.2 0.1 -0.4"},
    {R"(site="tip" refsite="palm")", "1 0.5 -2 0 0 0"},
    {R"(site="tip" refsite="palm")", "0 0 0 0.3 0.7 -1"},
    {R"(site="palm" refsite="tip")", "0.2 1 -1 0.3 0.7 -1"},
    {R"(site="tip" refsite="rim")", "1 0.5 -2 0.1 0 0"},
    {R"(site="tip" refsite="post")", "1 0 1 0 0.6 0.2"},
    {R"(site="post" refsite="nozzle")", "1 0 1 0 0.6 0.2"},
    {R"(site="tip" refsite="post")", "0 0 0 0.1 0.6 0.2"},
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}
std::string actuator(const char* law, const Target& target) {
  return replaced(replaced(law, "TARGET", target.place), "GEAR", target.gear);
}

TEST(Actuation, ForcesAreMujocos) {
  double worst = 0.0;
  for (const Target& target : kTargets) {
    for (const char* law : kLaws) {
      const std::string element = actuator(law, target);
      const double error = force_error(rig(element), 20);
      EXPECT_LT(error, 1e-10) << element;
      worst = std::max(worst, error);
    }
  }
  std::printf("forces of %zu actuators: %.1e\n", std::size(kTargets) * std::size(kLaws), worst);
}

// A tendon's range is that of its actuator; of several it is left out.
TEST(Actuation, TendonsHaveARangeOfForces) {
  const auto with = [](const std::string& actuators) {
    return replaced(rig(actuators), R"(<fixed name="belt">)", R"(<fixed name="belt" actuatorfrcrange="-0.4 0.9">)");
  };
  const std::string servo = R"(<position tendon="belt" gear="2" kp="3" kv="0.2"/>)";
  EXPECT_LT(force_error(with(servo)), 1e-10);
  EXPECT_LT(force_error(with(R"(<motor tendon="belt" gear="-2" forcerange="-0.1 2"/>)")), 1e-10);
  EXPECT_THAT(load_model_from_text(with(servo)).unsupported, IsEmpty());
  EXPECT_THAT(load_model_from_text(with(servo + servo)).unsupported,
              ElementsAre("tendon 'belt': actuatorfrcrange of several actuators"));
}

// Hundreds of servos at the end of a long chain would fill the matrix hundreds of times.
TEST(Actuation, TooManyForAStepAreRefused) {
  const auto chain = [](int servos) {
    std::string links, ends, actuators;
    for (int i = 0; i < 60; ++i) {
      links += R"(<body pos="0 0 0.1"><joint axis="0 1 0"/><geom size="0.02" contype="0" conaffinity="0"/>)";
      ends += "</body>";
    }
    for (int i = 0; i < servos; ++i) actuators += R"(<position site="end" refsite="start" kp="1" gear="0 0 1 0 0 0"/>)";
    return fmt::format(
        R"(<mujoco><worldbody><site name="start"/>{}<site name="end"/>{}</worldbody><actuator>{}</actuator></mujoco>)",
        links, ends, actuators);
  };
  EXPECT_THAT(load_model_from_text(chain(3)).unsupported, IsEmpty());
  EXPECT_THROW(load_model_from_text(chain(300)), UserError);
}

struct StepError {
  double velocity = 0.0;
  double activation = 0.0;
};

// Our state after some steps of a length, beside that of as many of MuJoCo's.
StepError step_error(const std::string& xml, double dt, int steps) {
  const Model model = load_model_from_text(xml);
  MujocoEngine engine = MujocoEngine::from_text(xml);
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.timestep = dt;
  engine.set_timestep(dt);
  RandomState start = random_state(model, 8, 0);
  for (double& x : start.v) x *= 0.1;
  PhysicsState<double> state{start.q, start.v, start.activation};
  engine.set_state(state.q, state.v, state.activation);
  for (int step = 0; step < steps; ++step) {
    state = physics_step(model, parameters, state, std::span<const double>(start.control));
    EXPECT_TRUE(engine.step(start.control)) << xml;
  }
  StepError error;
  for (int i = 0; i < model.nv; ++i) error.velocity = std::max(error.velocity, std::abs(state.v[i] - engine.v()[i]));
  for (int i = 0; i < model.na; ++i) {
    error.activation = std::max(error.activation, std::abs(state.activation[i] - engine.activation()[i]));
  }
  return error;
}

// In flight our step is that of 'implicitfast', but for the damping that ties branches to one another, which it leaves
// explicit, and that of forces next to the ends of their ranges, which ours fades out.
TEST(Actuation, StepsAreMujocos) {
  const std::string option = R"(<option integrator="implicitfast"/>)";
  double worst = 0.0;
  for (const Target& target : kTargets) {
    const std::string place = target.place;
    const bool ties_branches = place.find("tendon") != std::string::npos || place.find("rim") != std::string::npos;
    for (const char* law : kLaws) {
      const std::string xml = rig(actuator(law, target), option);
      StepError error = step_error(xml, 0.002, 30);
      EXPECT_LT(error.activation, 1e-12) << actuator(law, target);
      const bool near_its_end = error.velocity > 1e-12 && std::string(law).find("forcerange") != std::string::npos;
      if (ties_branches || near_its_end) {
        const StepError finer = step_error(xml, 0.0002, 300);
        EXPECT_LT(finer.velocity, 0.15 * error.velocity + 1e-12) << actuator(law, target);
        continue;
      }
      EXPECT_LT(error.velocity, 1e-12) << actuator(law, target);
      worst = std::max(worst, error.velocity);
    }
  }
  std::printf("velocities after 30 steps: %.1e\n", worst);
}

// ---- steps that are long
// ---------------------------------------------------------------------------------------------

// A pendulum of 1 kg m², without gravity.
std::string pendulum(const std::string& actuators, const std::string& joint = "") {
  return fmt::format(
      R"(<mujoco><option gravity="0 0 0" integrator="implicitfast"/><worldbody>
           <body><joint name="hinge" axis="0 1 0" {}/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody>
         <tendon><fixed name="belt"><joint joint="hinge" coef="2"/></fixed></tendon>
         <actuator>{}</actuator></mujoco>)",
      joint, actuators);
}

struct Swing {
  double q = 0.0;
  double v = 0.0;
};

Swing after(const Model& model, double control, double dt, double seconds) {
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.timestep = dt;
  const int steps = static_cast<int>(std::lround(seconds / dt));
  const PhysicsState<double> end = testing::run(model, parameters, testing::start_of(model), {control}, steps);
  return {end.q[0], end.v[0]};
}

// None of these would survive a step of MuJoCo's or of ours that is explicit in them.
TEST(Actuation, StiffServosReachTheirAimInLongSteps) {
  for (const char* law : {R"(<position joint="hinge" kp="1e5" kv="1e3"/>)", R"(<position joint="hinge" kp="1e6"/>)",
                          R"(<position tendon="belt" kp="1e5" kv="1e3" gear="0.5"/>)",
                          R"(<position joint="hinge" kp="1e5" kv="1e3" forcerange="-50 50"/>)",
                          R"(<position joint="hinge" kp="1e5" kv="1e3" timeconst="0.1"/>)"}) {
    const Swing end = after(load_model_from_text(pendulum(law)), 0.7, 0.02, 10.0);
    EXPECT_NEAR(end.q, 0.7, 1e-6) << law;
    EXPECT_NEAR(end.v, 0.0, 1e-6) << law;
  }
  for (const char* law :
       {R"(<velocity joint="hinge" kv="1e5"/>)", R"(<velocity joint="hinge" kv="1e5" forcerange="-3 3"/>)",
        R"(<velocity tendon="belt" kv="1e5" gear="0.5"/>)"}) {
    EXPECT_NEAR(after(load_model_from_text(pendulum(law)), 0.7, 0.02, 3.0).v, 0.7, 1e-6) << law;
  }
}

// A force at the end of its range is that force, be it the actuator's own or that of its joint: the speed grows as a
// motor's would have it, up to the aim and no further.
TEST(Actuation, ForcesKeepTheirRange) {
  for (const Model& model :
       {load_model_from_text(pendulum(R"(<velocity joint="hinge" kv="1e4" forcerange="-3 3"/>)")),
        load_model_from_text(pendulum(R"(<velocity joint="hinge" kv="1e4"/>)", R"(actuatorfrcrange="-3 3")")),
        load_model_from_text(pendulum(R"(<velocity joint="hinge" gear="-1" kv="1e4" forcerange="-9 2"/>)",
                                      R"(actuatorfrcrange="-5 3")"))}) {
    const double aim = 0.7 * (model.actuators[0].gear[0] > 0.0 ? 1.0 : -1.0);
    EXPECT_NEAR(after(model, 0.7, 0.02, 0.2).v, (aim > 0.0 ? 3.0 : -2.0) * 0.2, 1e-9);
    double fastest = 0.0;
    for (double t = 0.02; t < 1.0; t += 0.02) fastest = std::max(fastest, std::abs(after(model, 0.7, 0.02, t).v));
    EXPECT_NEAR(fastest, 0.7, 1e-3);
  }
}

// With the step the error against MuJoCo, in steps a hundred times as short, goes to zero.
TEST(Actuation, ShortStepsConvergeToMujocos) {
  for (const char* law : {R"(<position joint="hinge" kp="1000" kv="20"/>)", R"(<position joint="hinge" kp="1000"/>)",
                          R"(<position joint="hinge" kp="1000" kv="20" forcerange="-30 30"/>)",
                          R"(<intvelocity joint="hinge" kp="1000" kv="20" actrange="-1 1"/>)"}) {
    const Model model = load_model_from_text(pendulum(law));
    MujocoEngine engine = MujocoEngine::from_text(pendulum(law));
    engine.set_timestep(1e-6);
    engine.set_state(testing::start_of(model).q, testing::start_of(model).v);
    ASSERT_TRUE(engine.step(std::vector<double>{0.3}, 100000));
    const auto error = [&](double dt) {
      const Swing end = after(model, 0.3, dt, 0.1);
      return std::max(std::abs(end.q - engine.q()[0]), 0.03 * std::abs(end.v - engine.v()[0]));
    };
    EXPECT_LT(error(1e-4), 2e-4) << law;
    EXPECT_LT(error(1e-4), 0.15 * error(1e-3)) << law;
    EXPECT_LT(error(1e-3), 0.15 * error(1e-2)) << law;
  }
}

}  // namespace
}  // namespace cgpo
