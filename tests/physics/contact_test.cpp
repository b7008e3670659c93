// Contact and limits: robots stand, slide where they should, and stay within their ranges.
#include "cgpo/physics/dynamics/contact.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/physics/mujoco/engine.hpp"

#include "robots.hpp"
#include "simulate.hpp"

namespace cgpo {
namespace {

TEST(Contact, RampIsTwiceSmooth) {
  EXPECT_EQ(smooth_ramp(-0.1).value, 0.0);
  EXPECT_NEAR(smooth_ramp(1.7).value, 1.2, 1e-15);  // x − 1/2
  for (const double x : {-0.01, 0.0, 0.3, 0.7, 1.0, 1.01, 3.0}) {
    const double h = 1e-5;
    EXPECT_NEAR((smooth_ramp(x + h).value - smooth_ramp(x - h).value) / (2 * h), smooth_ramp(x).slope, 1e-8);
  }
  for (const double x : {0.0, 1.0}) {  // the slope is continuous, and so is its slope
    EXPECT_NEAR((smooth_ramp(x + 1e-7).slope - smooth_ramp(x).slope) / 1e-7, 0.0, 1e-5);
    EXPECT_NEAR((smooth_ramp(x).slope - smooth_ramp(x - 1e-7).slope) / 1e-7, 0.0, 1e-5);
  }
}

// The slopes that make the step implicit are those of the force.
TEST(Contact, SlopesAreDerivatives) {
  const double k = 2000.0, c = 50.0, w = 0.02, h = 1e-6;
  const auto force = [&](double depth, double opening) { return unilateral_force(depth, opening, k, c, w).force; };
  for (const double depth : {0.002, 0.01, 0.019, 0.03}) {
    const double slope = unilateral_force(depth, 0.0, k, c, w).slope;
    EXPECT_NEAR((force(depth + h, 0.0) - force(depth - h, 0.0)) / (2 * h), k * slope, 1e-4 * k);
    EXPECT_NEAR((force(depth, h) - force(depth, -h)) / (2 * h), -c * slope, 1e-4 * c);
  }
}

TEST(Contact, ForceNeverPullsAndVanishesApart) {
  for (double depth = -0.05; depth < 0.05; depth += 0.003) {
    for (double opening = -3.0; opening < 3.0; opening += 0.25) {
      const Push<double> push = unilateral_force(depth, opening, 2000.0, 50.0, 0.02);
      EXPECT_GE(push.force, 0.0);
      EXPECT_GE(push.slope, 0.0);
      EXPECT_LE(push.slope, 1.0);
      if (depth <= 0.0) {
        EXPECT_EQ(push.force, 0.0);
      }
    }
  }
  // Pressing in is resisted, leaving fast is free.
  EXPECT_GT(unilateral_force(0.01, -1.0, 2000.0, 50.0, 0.02).force,
            unilateral_force(0.01, 0.0, 2000.0, 50.0, 0.02).force);
  EXPECT_EQ(unilateral_force(0.01, 3.0, 2000.0, 50.0, 0.02).force, 0.0);
}

TEST(Contact, PointsAreThoseOfMujoco) {
  for (const char* name : {"cheetah", "ant", "tripod"}) {
    const Model model = load_model_from_text(testing::robot_xml(name), name);
    MujocoEngine engine = MujocoEngine::from_text(testing::robot_xml(name));
    for (std::uint32_t index = 0; index < 50; ++index) {
      const RandomState random = random_state(model, 21, index);
      engine.set_state(random.q, random.v);
      engine.forward(random.control);
      std::vector<double> ours;
      for (const double depth : testing::depths(model, {random.q, random.v})) {
        if (depth > 0.0) ours.push_back(depth);
      }
      std::vector<double> theirs = engine.contact_depths();
      std::sort(ours.begin(), ours.end());
      std::sort(theirs.begin(), theirs.end());
      ASSERT_EQ(ours.size(), theirs.size()) << name << " " << index;
      for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-12) << name;
    }
  }
}

// Heights of the root over the last second of a rest, and how far it crept.
TEST(Contact, RestsMillimetresDeepAndStays) {
  for (const char* name : {"tripod", "cheetah", "ant"}) {
    const Model model = load_model_from_text(testing::robot_xml(name), name);
    const PhysicsParameters parameters = suggest_parameters(model);
    PhysicsState<double> state = testing::start_of(model);
    if (model.nq == 15) {
      for (int k = 0; k < 4; ++k) state.q[8 + 2 * k] = k == 0 || k == 3 ? 1.0 : -1.0;
    }
    const std::vector<double> none(model.nu, 0.0);
    const int second = static_cast<int>(std::lround(1.0 / parameters.timestep));
    state = testing::run(model, parameters, state, none, 5 * second);
    const PhysicsState<double> later = testing::run(model, parameters, state, none, second);
    EXPECT_GT(testing::deepest(model, later), 0.0005) << name;
    EXPECT_LT(testing::deepest(model, later), 0.01) << name;
    for (int i = 0; i < model.nq; ++i) EXPECT_NEAR(later.q[i], state.q[i], 2e-3) << name << " q " << i;
    for (int i = 0; i < model.nv; ++i) EXPECT_NEAR(later.v[i], 0.0, 1e-2) << name << " v " << i;
    std::printf("%-8s rests %.1f mm deep\n", name, 1e3 * testing::deepest(model, later));
  }
}

// A robot at rest is held up by its weight, by our floor and by MuJoCo's; arrows in pictures say so.
TEST(Contact, ForcesAtRestCarryTheWeight) {
  for (const char* name : {"tripod", "cheetah"}) {
    const Model model = load_model_from_text(testing::robot_xml(name), name);
    const PhysicsParameters parameters = suggest_parameters(model);
    const std::vector<double> none(model.nu, 0.0);
    const PhysicsState<double> state =
        testing::run(model, parameters, testing::start_of(model), none, static_cast<int>(5.0 / parameters.timestep));
    const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
    MujocoEngine engine = MujocoEngine::from_text(testing::robot_xml(name));
    engine.set_state(testing::start_of(model).q, testing::start_of(model).v);
    engine.step(none, static_cast<int>(5.0 / engine.timestep()));
    engine.forward(none);
    const double weight = -model.total_mass() * model.gravity[2];
    for (const auto& forces : {contact_forces(model, parameters.contact, kinematics), engine.contact_forces()}) {
      Vec3<double> sum;
      for (const ContactForce& contact : forces) {
        sum = sum + contact.force;
        if (contact.force[2] > 0.0) {
          EXPECT_NEAR(contact.position[2], 0.0, 0.02) << name;
        }
      }
      EXPECT_NEAR(sum[2], weight, 0.02 * weight) << name;
      EXPECT_NEAR(sum[0], 0.0, 0.02 * weight) << name;
    }
  }
}

// Also by half a turn, where w is 0.
TEST(Rotation, QuaternionComesBack) {
  RandomStream random(3, Purpose::kTest);
  std::vector<Quat<double>> all = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0.6, 0.8, 0}};
  for (int i = 0; i < 50; ++i) {
    Quat<double> q{std::abs(random.normal()), random.normal(), random.normal(), random.normal()};
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (double& x : q) x /= length;
    all.push_back(q);
  }
  for (const Quat<double>& q : all) {
    const Quat<double> back = quaternion_of(rotation_of(q));
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(back[k], q[k], 1e-12);
  }
}

// Friction 0.5: gravity tilted by an angle with tangent t.
PhysicsState<double> on_a_slope(double t, double slip_speed, double seconds) {
  Model model = load_model_from_text(testing::robot_xml("tripod"), "tripod");
  const double angle = std::atan(t);
  model.gravity = vec3(9.81 * std::sin(angle), 0.0, -9.81 * std::cos(angle));
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.contact.slip_speed = slip_speed;
  const auto steps = static_cast<int>(std::lround(seconds / parameters.timestep));
  return testing::run(model, parameters, testing::start_of(model), {0.0}, steps);
}

// Below the friction angle a robot creeps, at v_s r/√(1 − r²) with r = t/μ, for as long as it stands: friction that is
// viscous below v_s holds nothing for ever.
TEST(Contact, CreepsBelowTheFrictionAngle) {
  EXPECT_NEAR(on_a_slope(0.0, 0.01, 2.0).v[0], 0.0, 1e-6);
  for (const double slip_speed : {0.01, 0.1}) {
    for (const double t : {0.1, 0.3}) {
      const double creep = slip_speed * (t / 0.5) / std::sqrt(1.0 - t * t / 0.25);
      const PhysicsState<double> later = on_a_slope(t, slip_speed, 10.0);
      EXPECT_NEAR(later.v[0], creep, 0.05 * creep) << t;
      EXPECT_NEAR(later.q[0], 10.0 * creep, 0.15 * 10.0 * creep) << t;
    }
  }
  EXPECT_LT(on_a_slope(0.45, 0.01, 2.0).v[0], 0.03);
}

TEST(Contact, SlidesAboveTheFrictionAngle) {
  const double angle = std::atan(0.8);  // it accelerates by g (sin − μ cos)
  EXPECT_NEAR(on_a_slope(0.8, 0.01, 2.0).v[0], 2.0 * 9.81 * (std::sin(angle) - 0.5 * std::cos(angle)), 0.15);
}

// The dashpot of the slip lift: power beyond what the spring stores is never positive.
TEST(Contact, SlipLiftOnlyTakesEnergy) {
  const double k = 2000.0, c = 50.0, w = 0.02, friction = 0.7;
  for (const double lift : {0.0, 0.5, 1.0}) {
    for (double depth = 0.001; depth < 0.05; depth += 0.004) {
      const double spring = unilateral_force(depth, 0.0, k, c, w).force;
      for (double u = -3.0; u < 3.0; u += 0.2) {
        for (double slip = 0.0; slip < 4.0; slip += 0.3) {
          const double force = unilateral_force(depth, u - lift * friction * slip, k, c, w).force;
          EXPECT_LE((force - spring) * u - friction * force * slip, 1e-12);
        }
      }
    }
  }
}

// Full controls throw joints against their limits at up to 0.1 rad a step; MuJoCo's own overshoot is the measure.
TEST(Contact, LimitsHold) {
  for (const char* name : {"cartpole", "cheetah", "ant"}) {
    const Model model = load_model_from_text(testing::robot_xml(name), name);
    MujocoEngine engine = MujocoEngine::from_text(testing::robot_xml(name));
    const PhysicsParameters parameters = suggest_parameters(model);
    PhysicsState<double> state = testing::start_of(model);
    for (const Joint& joint : model.joints) {
      if (joint.limited) state.q[joint.q] = 0.5 * (joint.lower + joint.upper);
    }
    engine.set_state(state.q, state.v);
    const auto overshoot = [&](std::span<const double> q) {
      double worst = 0.0;
      for (const Joint& joint : model.joints) {
        if (joint.limited) worst = std::max({worst, q[joint.q] - joint.upper, joint.lower - q[joint.q]});
      }
      return worst;
    };
    RandomStream random(31, Purpose::kTest);
    double ours = 0.0, theirs = 0.0;
    std::vector<double> control(model.nu);
    for (int i = 0; i < 1000; ++i) {
      if (i % 20 == 0) {
        for (double& x : control) x = random.uniform() < 0.5 ? -1.0 : 1.0;
      }
      state = testing::run(model, parameters, state, control, 1);
      ASSERT_TRUE(engine.step(control));
      ours = std::max(ours, overshoot(state.q));
      theirs = std::max(theirs, overshoot(engine.q()));
    }
    EXPECT_GT(ours, 0.0) << name;  // they were reached
    EXPECT_LT(ours, theirs + 0.12) << name;
    std::printf("%-8s overshoots its ranges by up to %.3f under full controls, MuJoCo by %.3f\n", name, ours, theirs);
  }
}

// Long and hard random controls never make a state that is not finite.
TEST(Contact, StaysFinite) {
  for (const char* name : {"cheetah", "ant", "tripod", "swimmer", "cartpole"}) {
    const Model model = load_model_from_text(testing::robot_xml(name), name);
    const PhysicsParameters parameters = suggest_parameters(model);
    const auto state = testing::wander(model, parameters, testing::start_of(model), 7, 3000);
    for (const double x : state.q) EXPECT_TRUE(std::isfinite(x)) << name;
    for (const double x : state.v) EXPECT_LT(std::abs(x), 1e3) << name;
  }
}

// A fall from the reset pose, ours beside MuJoCo's, whose contact is stiffer: millimetres apart, not more.
TEST(Contact, FallsLikeMujoco) {
  const Model model = load_model_from_text(testing::robot_xml("cheetah"), "cheetah");
  MujocoEngine engine = MujocoEngine::from_text(testing::robot_xml("cheetah"));
  PhysicsParameters parameters = suggest_parameters(model);
  PhysicsState<double> state = testing::start_of(model);
  engine.set_state(state.q, state.v);
  const std::vector<double> none(model.nu, 0.0);
  double worst = 0.0;
  for (int i = 0; i < 100; ++i) {
    state = testing::run(model, parameters, state, none, 1);
    ASSERT_TRUE(engine.step(none));
    for (int k = 1; k < model.nq; ++k) worst = std::max(worst, std::abs(state.q[k] - engine.q()[k]));
  }
  EXPECT_LT(worst, 0.1);
  std::printf("cheetah falling for 1 s: at most %.3f from MuJoCo's (m, rad)\n", worst);
}

}  // namespace
}  // namespace cgpo
