// Which geoms of different bodies push each other, how hard they are, and where their forces act.
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/physics/mujoco/engine.hpp"

#include "simulate.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A fixed tree with two arms, a free ball, a post and a knob; limbs meet each other and everything else.
std::string tangle_xml(const std::string& option) {
  return fmt::format(
      R"(<mujoco><compiler angle='radian'/>{}<default><geom type='capsule' size='.05 .12'/></default><worldbody>
        <geom name='post' fromto='.3 .1 0 .3 .1 .6' margin='.01'/><geom name='knob' type='sphere' size='.1' pos='0 .3 .2'
          contype='2'/>
        <body name='base' pos='0 0 .2'><joint axis='0 0 1'/><geom fromto='0 0 0 .2 0 0'/>
          <body name='arm' pos='.2 0 0'><joint axis='0 1 0' range='-2 2'/><joint axis='1 0 0'/>
            <geom fromto='0 0 0 .2 0 0'/>
            <body name='plate' pos='.2 0 0'><geom type='sphere' size='.07'/>
              <body name='finger' pos='0 0 0'><joint type='ball'/><geom fromto='0 0 0 .1 0 .1'/>
                <body name='tip' pos='.1 0 .1'><joint axis='0 1 0' range='-1 3'/><geom fromto='0 0 0 .2 .1 0'
                  conaffinity='3'/></body></body></body></body>
          <body name='tail' pos='0 0 .1'><joint type='slide' axis='0 0 1' range='-.1 .1'/><joint axis='1 1 0'/>
            <geom name='tail' fromto='0 0 0 0 .2 .1' friction='.3'/></body></body>
        <body name='ball' pos='.2 .2 .3'><freejoint/><geom name='ball' type='sphere' size='.15'/></body></worldbody>
        <contact><exclude body1='ball' body2='finger'/><pair geom1='tail' geom2='post' margin='.02' friction='.5 .5 0 0 0'/>
        </contact></mujoco>)",
      option);
}

PhysicsState<double> tangled(const Model& model, std::uint32_t index) {
  RandomState random = random_state(model, 3, index);
  for (const Joint& joint : model.joints) {
    if (joint.limited) random.q[joint.q] = std::clamp(random.q[joint.q], joint.lower, joint.upper);
    for (int k = 0; joint.type == JointType::kFree && k < 3; ++k) {
      random.q[joint.q + k] = model.q0[joint.q + k] + 0.2 * (random.q[joint.q + k] - model.q0[joint.q + k]);
    }
  }
  return {random.q, random.v};
}

// What contact adds to the accelerations in a step of no length is M⁻¹τ, with τ the power of its forces for each unit
// velocity, by the velocities of the bodies' points.
TEST(GeomPairs, ForcesActWhereTheyAre) {
  const Model model = load_model_from_text(tangle_xml(""));
  Model apart = model;
  apart.pairs.clear();
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.timestep = 1e-10;
  int touching = 0;
  for (std::uint32_t index = 0; index < 100; ++index) {
    const PhysicsState<double> state = tangled(model, index);
    const auto now = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
    const std::vector<ContactForce> forces = contact_forces(model, parameters.contact, now);
    std::vector<const GeomPair*> owners;
    for (const GeomPair& pair : model.pairs) owners.insert(owners.end(), point_count(pair), &pair);
    ASSERT_EQ(forces.size(), owners.size());
    std::vector<double> tau(model.nv, 0.0);
    double most = 0.0;
    for (int i = 0; i < model.nv; ++i) {
      PhysicsState<double> unit{state.q, std::vector<double>(model.nv, 0.0)};
      unit.v[i] = 1.0;
      const auto moving = forward_kinematics<double>(model, unit.q, unit.v, DofAxes::kTree);
      for (std::size_t p = 0; p < forces.size(); ++p) {
        const GeomPair& pair = *owners[p];
        const auto velocity = [&](int body) {
          const Vec3<double> from_origin = forces[p].position - point_position(model, now, body);
          return point_velocity(model, moving, body, transpose_times(body_rotation(model, now, body), from_origin));
        };
        const bool home_is_first = pair.first.link > pair.second.link;
        const Vec3<double> apart_at = velocity(pair.first.body) - velocity(pair.second.body);
        tau[i] += (home_is_first ? 1.0 : -1.0) * dot(forces[p].force, apart_at);
      }
      most = std::max(most, std::abs(tau[i]));
    }
    if (most == 0.0) continue;
    ++touching;
    const auto dynamics = smooth_dynamics<double>(model, state, {});
    const std::vector<double> expected = solve_symmetric(dynamics.mass_matrix, std::span<const double>(tau));
    const PhysicsState<double> with = testing::run(model, parameters, state, {}, 1);
    const PhysicsState<double> without = testing::run(apart, parameters, state, {}, 1);
    double largest = 0.0;
    for (const double a : expected) largest = std::max(largest, std::abs(a));
    for (int i = 0; i < model.nv; ++i) {
      EXPECT_NEAR((with.v[i] - without.v[i]) / parameters.timestep, expected[i], 1e-4 * largest) << index << " " << i;
    }
  }
  EXPECT_GT(touching, 50);
}

// Masks, excluded bodies, parents and children, welded bodies, pairs by name: whatever touches in MuJoCo touches here.
TEST(GeomPairs, PairsAreThoseOfMujoco) {
  for (const char* flag : {"", "<option><flag filterparent='disable'/></option>"}) {
    const std::string xml = tangle_xml(flag);
    const Model model = load_model_from_text(xml);
    EXPECT_THAT(model.unsupported, IsEmpty());
    MujocoEngine engine = MujocoEngine::from_text(xml);
    int touching = 0;
    for (std::uint32_t index = 0; index < 2000; ++index) {
      const PhysicsState<double> state = tangled(model, index);
      engine.set_state(state.q, state.v);
      engine.forward({});
      std::vector<double> theirs = engine.contact_depths();
      const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
      std::vector<double> ours;
      for (const GeomPair& pair : model.pairs) {
        const double depth = pair_depth(kinematics, pair);
        if (depth > 0.0) ours.push_back(depth - pair.margin);
      }
      std::sort(ours.begin(), ours.end());
      std::sort(theirs.begin(), theirs.end());
      ASSERT_EQ(ours.size(), theirs.size()) << index;
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], theirs[i], theirs[i] < 0.08 ? 1e-4 : 2e-3) << index;  // axes that cross are drawn apart
      }
      touching += static_cast<int>(ours.size());
    }
    EXPECT_GT(touching, 1000);
  }
}

// What the joints never bring together is left out and named, of whatever kind it is; what may meet and is of another
// kind is listed, a line a kind.
TEST(GeomPairs, WhatNeverComesNearIsNoted) {
  const auto model = [](const std::string& hand, const std::string& range, const std::string& more = "") {
    return load_model_from_text(fmt::format(
        "<mujoco><compiler angle='radian'/><worldbody>{}<body pos='0 0 1'><freejoint/><geom name='body' type='box' "
        "size='.1 .1 .1'/><body pos='.3 0 0'><joint axis='0 1 0' range='-.1 .1'/><geom size='.05'/>"
        "<body pos='.3 0 0'><joint name='wrist' axis='0 1 0' range='{}'/><geom name='hand' {} pos='.1 0 0'/>"
        "</body></body></body></worldbody></mujoco>",
        more, range, hand));
  };
  for (const char* hand : {"size='.05'", "type='cylinder' size='.05 .05'", "type='ellipsoid' size='.05 .05 .02'"}) {
    const Model apart = model(hand, "-1 1");
    EXPECT_THAT(apart.unsupported, IsEmpty()) << hand;
    EXPECT_THAT(apart.pairs, IsEmpty()) << hand;
    EXPECT_THAT(apart.notes, ElementsAre(AllOf(HasSubstr("10000 states"), HasSubstr("geom 'body' with geom 'hand'"))));
  }
  EXPECT_EQ(model("type='capsule' size='.05 .4' euler='0 1.57 0'", "-3.1 3.1").pairs.size(), 1U);
  EXPECT_THAT(model("type='cylinder' size='.05 .4' euler='0 1.57 0'", "-3.1 3.1").unsupported,
              ElementsAre("geom 'body': contact of a box with a cylinder, geom 'hand'"));
  const Model cylinders = model("size='.05'", "-1 1",
                                "<geom name='post' type='cylinder' size='.1 1' pos='3 0 0'/>"
                                "<geom type='cylinder' size='.1 1' pos='4 0 0'/>");
  EXPECT_THAT(cylinders.unsupported,
              ElementsAre("geom 'post': contact of a cylinder with a sphere, geom 3 of body 2 and 3 more such pairs",
                          "geom 'body': contact of a box with a cylinder, geom 'post' and 1 more such pair"));
}

// A model of many bodies is not made into a graph that nothing could run.
TEST(GeomPairs, TooManyPointsAreListed) {
  std::string bodies;
  for (int i = 0; i < 60; ++i) bodies += fmt::format("<body pos='{} 0 0'><freejoint/><geom size='.1'/></body>", i);
  const Model model = load_model_from_text("<mujoco><worldbody>" + bodies + "</worldbody></mujoco>");
  EXPECT_THAT(model.unsupported, ElementsAre(HasSubstr("contact between bodies at more than")));
  EXPECT_GT(model.pairs.size(), 100U);
  EXPECT_LT(model.pairs.size(), 60U * 59U / 2U);
}

// Nor is one whose parts tie too many joints to one another: pairs are left out, named, and the rest is read.
TEST(GeomPairs, TooManyTiedJointsAreListed) {
  std::string snake;
  std::string end;
  for (int i = 0; i < 48; ++i) {
    snake += fmt::format(
        "<body pos='.1 0 0'><joint axis='0 {} {}' range='-60 60'/><geom name='g{}' type='capsule' "
        "fromto='0 0 0 .1 0 0' size='.02'/>",
        i % 2, 1 - i % 2, i);
    end += "</body>";
  }
  const Model model = load_model_from_text("<mujoco><worldbody><body pos='0 0 2'><freejoint/><geom size='.05'/>" +
                                           snake + end + "</body></worldbody></mujoco>");
  EXPECT_THAT(model.unsupported, ElementsAre(AllOf(HasSubstr("contact between bodies that ties too many joints"),
                                                   HasSubstr(" with geom 'g"))));
  EXPECT_GT(model.pairs.size(), 100U);
}

// solref, relative to MuJoCo's default; two geoms mix theirs as MuJoCo's do.
TEST(GeomPairs, HardnessIsThatOfTheFile) {
  const auto surface = [](const std::string& ball, const std::string& floor, double timestep = 0.002) {
    return load_model_from_text(fmt::format("<mujoco><option timestep='{}'/><worldbody><geom type='plane' "
                                            "size='1 1 1' {}/><body><joint type='slide'/><geom size='1' {}/></body>"
                                            "</worldbody></mujoco>",
                                            timestep, floor, ball))
        .contacts.at(0);
  };
  EXPECT_EQ(surface("", "").stiffness, 1.0);
  EXPECT_EQ(surface("solref='0.02 1' solmix='3'", "solref='0.02 1'", 0.05).stiffness, 1.0);
  EXPECT_EQ(surface("solref='0.02 1' solmix='3'", "solref='0.02 1'").damping, 1.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.01 1'", "solref='0.01 1'").stiffness, 4.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.01 1'", "solref='0.01 1'").damping, 2.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.02 0.5'", "solref='0.02 0.5'").stiffness, 4.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.02 0.5'", "solref='0.02 0.5'").damping, 1.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.001 1'", "solref='0.001 1'").damping, 5.0);  // two time steps are the least
  EXPECT_DOUBLE_EQ(surface("solref='-5000 -200'", "solref='-5000 -200'").stiffness, 2.0);
  EXPECT_DOUBLE_EQ(surface("solref='-5000 -200'", "solref='-5000 -200'").damping, 2.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.01 1' priority='1'", "").damping, 2.0);
  EXPECT_DOUBLE_EQ(surface("solref='0.04 1' solmix='3'", "solref='0.02 1'").damping, 0.02 / 0.035);
  EXPECT_EQ(surface("solref='0 0'", "").stiffness, 0.01);
  EXPECT_EQ(surface("solref='-1e30 -1'", "").stiffness, 100.0);
}

// Friction of a named pair that differs between its directions is their mean, and said to be.
TEST(GeomPairs, FrictionIsTheSameInAllDirections) {
  const Model model = load_model_from_text(
      "<mujoco><worldbody><body><freejoint/><geom name='a' size='1'/></body><body pos='3 0 0'><freejoint/>"
      "<geom name='b' size='1'/></body></worldbody><contact><pair geom1='a' geom2='b' condim='6' "
      "friction='.9 .7 .01 .002 .004'/></contact></mujoco>");
  EXPECT_THAT(model.unsupported, IsEmpty());
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("geom 'a': friction that depends on the direction")));
  ASSERT_EQ(model.pairs.size(), 1U);
  EXPECT_DOUBLE_EQ(model.pairs[0].friction, 0.8);
  EXPECT_DOUBLE_EQ(model.pairs[0].turn.roll, 0.003);
}

}  // namespace
}  // namespace cgpo
