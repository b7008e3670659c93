// Contact between bodies, and with fixed things that are no planes: depths against MuJoCo's, rest, momentum, energy,
// derivatives.
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/physics/mujoco/engine.hpp"

#include "simulate.hpp"
#include "window.hpp"

namespace cgpo {
namespace {

using ::testing::IsEmpty;

constexpr const char* kSphere = "type='sphere' size='.12'";
constexpr const char* kCapsule = "type='capsule' size='.08 .15'";
constexpr const char* kBox = "type='box' size='.1 .15 .12'";

struct Kinds {
  const char* name;
  const char* first;
  const char* second;
};
constexpr Kinds kKinds[] = {{"sphere-sphere", kSphere, kSphere},     {"sphere-capsule", kSphere, kCapsule},
                            {"capsule-capsule", kCapsule, kCapsule}, {"sphere-box", kSphere, kBox},
                            {"capsule-box", kCapsule, kBox},         {"box-box", kBox, kBox}};

// Two free bodies without gravity, or the second one fixed.
std::string two_bodies(const Kinds& kinds, bool second_is_free = true, const std::string& more = "",
                       const std::string& inertial = "") {
  return fmt::format(
      "<mujoco><option gravity='0 0 0' timestep='0.002'/><default><geom density='400' {}/></default><worldbody>"
      "<body name='a'><freejoint/><geom name='a' {}/>{}</body>"
      "<body name='b' pos='0 0 1'>{}<geom name='b' {}/>{}</body></worldbody></mujoco>",
      more, kinds.first, inertial, second_is_free ? "<freejoint/>" : "", kinds.second, inertial);
}

// The two near each other, turned anyhow.
PhysicsState<double> near_state(const Model& model, std::uint32_t index, double reach) {
  RandomState random = random_state(model, 11, index);
  RandomStream stream(12, Purpose::kTest, 0, index);
  Vec3<double> way;
  for (double& x : way.at) x = stream.normal();
  const double far = stream.uniform(0.5, 1.0) * reach;
  for (int k = 0; k < 3; ++k) {
    if (model.nq == 14) random.q[k] = 0.1 * random.q[k];
    random.q[k] = (model.nq == 14 ? random.q[7 + k] : k == 2 ? 1.0 : 0.0) + way[k] * far / std::sqrt(dot(way, way));
  }
  return {random.q, random.v};
}

std::vector<double> compare_depths(const Kinds& kinds, double reach, double shallow, bool second_is_free) {
  const std::string xml = two_bodies(kinds, second_is_free);
  const Model model = load_model_from_text(xml);
  EXPECT_EQ(model.pairs.size(), 1U);
  EXPECT_THAT(model.unsupported, IsEmpty());
  MujocoEngine engine = MujocoEngine::from_text(xml);
  std::vector<double> errors;  // where at least one of both touches
  for (std::uint32_t index = 0; index < 2000; ++index) {
    const PhysicsState<double> state = near_state(model, index, reach);
    engine.set_state(state.q, state.v);
    engine.forward({});
    const std::vector<double> theirs = engine.contact_depths();
    const double ours = testing::deepest(model, state);
    const double deepest = theirs.empty() ? 0.0 : *std::max_element(theirs.begin(), theirs.end());
    if (deepest > shallow) continue;
    if (theirs.empty() && ours <= 0.0) continue;
    errors.push_back(std::abs(std::max(ours, 0.0) - deepest));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

TEST(BodyContact, DepthsAreThoseOfMujoco) {
  for (const Kinds& kinds : kKinds) {
    const std::string name = kinds.name;
    const bool boxes = name == "box-box";
    for (const bool free : {true, false}) {
      const std::vector<double> e = compare_depths(kinds, 0.4, 0.03, free);
      ASSERT_GT(e.size(), 150U) << name;
      const double most = name == "capsule-box" ? 5e-5 : 1e-7;  // its nearest point is drawn to the middle a little
      // Boxes: near a tie of two directions ours is between them.
      EXPECT_LT(e[e.size() / 2], boxes ? 1e-12 : most) << name;
      EXPECT_LT(e[e.size() * 9 / 10], boxes ? 1.5e-3 : most) << name;
      EXPECT_LT(e.back(), boxes ? 8e-3 : most) << name;
      std::printf("%-16s %zu touching: median %.1e, 90 %% %.1e, worst %.1e\n", kinds.name, e.size(), e[e.size() / 2],
                  e[e.size() * 9 / 10], e.back());
    }
  }
}

// What is between two free bodies changes the velocities of both, but neither their momentum nor their angular
// momentum.
TEST(BodyContact, ActionIsReaction) {
  for (const Kinds& kinds : kKinds) {
    const Model model = load_model_from_text(two_bodies(kinds, true, "condim='6' friction='0.8 0.02 0.01'"));
    Model apart = model;
    apart.pairs.clear();
    const PhysicsParameters parameters = suggest_parameters(model);
    int touching = 0, changed = 0;
    for (std::uint32_t index = 0; index < 200; ++index) {
      const PhysicsState<double> state = near_state(model, index, 0.3);
      if (testing::deepest(model, state) <= 0.002) continue;
      ++touching;
      const PhysicsState<double> pushed = testing::run(model, parameters, state, {}, 1);
      const PhysicsState<double> left_alone = testing::run(apart, parameters, state, {}, 1);
      const testing::Momentum with = testing::momentum(model, {state.q, pushed.v});
      const testing::Momentum without = testing::momentum(model, {state.q, left_alone.v});
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(with.linear[k], without.linear[k], 1e-11) << kinds.name;
        EXPECT_NEAR(with.angular[k], without.angular[k], 1e-11) << kinds.name;
      }
      for (int i = 0; i < model.nv; ++i) changed += pushed.v[i] != left_alone.v[i] ? 1 : 0;
    }
    EXPECT_GT(touching, 20) << kinds.name;
    EXPECT_GT(changed, 100) << kinds.name;
  }
}

struct Scene {
  const char* name;
  double tolerance;  // m
  int steps;
  std::string bodies;
};

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> list = {
      {"two balls in a channel", 0.004, 1500,
       R"(<geom type='box' size='.05 1 1' pos='-.2 0 .5'/><geom type='box' size='.05 1 1' pos='.2 0 .5'/>
          <geom type='box' size='1 .05 1' pos='0 -.16 .5'/><geom type='box' size='1 .05 1' pos='0 .16 .5'/>
          <body pos='-.04 0 .11'><freejoint/><geom size='.1'/></body>
          <body pos='.04 0 .29'><freejoint/><geom size='.1'/></body>)"},
      {"three boxes", 0.004, 1500,
       R"(<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>
          <body pos='.02 0 .305'><freejoint/><geom type='box' size='.1 .1 .1'/></body>
          <body pos='0 .01 .51' euler='0 0 20'><freejoint/><geom type='box' size='.1 .1 .1'/></body>)"},
      {"equal boxes", 0.004, 1500,
       R"(<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>
          <body pos='0 0 .305'><freejoint/><geom type='box' size='.1 .1 .1'/></body>)"},
      {"planks across a beam", 0.004, 1500,
       R"(<geom type='box' size='.05 .5 .1' pos='0 0 .1'/>
          <body pos='0.01 0 .23'><freejoint/><geom type='box' size='.4 .06 .02'/></body>
          <body pos='0.01 0.0 .28'><freejoint/><geom type='box' size='.05 .3 .02'/></body>)"},
      {"ball in a corner", 0.004, 1500,
       R"(<geom type='box' size='.1 1 1' pos='.3 0 .5'/><geom type='box' size='1 .1 1' pos='0 .3 .5'/>
          <body pos='0 0 .11'><freejoint/><geom size='.1'/></body>)"},
      {"capsule on a box", 0.004, 1500,
       R"(<geom type='box' size='.1 .1 .1' pos='0 0 .1'/>
          <body pos='.01 0 .26' euler='0 90 10'><freejoint/><geom type='capsule' size='.05 .2'/></body>)"},
      {"three logs", 0.004, 2000,
       R"(<geom type='box' size='.1 .1 1' euler='90 0 0' pos='-.3 0 .1'/>
          <geom type='box' size='.1 .1 1' euler='90 0 0' pos='.3 0 .1'/>
          <body pos='-.101 0 .1' euler='90 0 0'><freejoint/><geom type='capsule' size='.1 .3'/></body>
          <body pos='.101 0 .1' euler='90 0 0'><freejoint/><geom type='capsule' size='.1 .3'/></body>
          <body pos='0 0.02 .28' euler='90 0 0'><freejoint/><geom type='capsule' size='.1 .25'/></body>)"},
  };
  return list;
}

std::string scene_xml(const Scene& scene) {
  return fmt::format(
      "<mujoco><option timestep='0.002' gravity='{} -9.81'/><worldbody><geom type='plane' size='5 5 1'/>{}"
      "</worldbody></mujoco>",
      std::string(scene.name) == "ball in a corner" ? "2 2.5" : "0 0", scene.bodies);
}

// Put nearly at rest, all lies where MuJoCo's does, up to the softness of our surfaces, and stays there.
TEST(BodyContact, ThingsRestWhereMujocosDo) {
  for (const Scene& scene : scenes()) {
    const std::string xml = scene_xml(scene);
    const Model model = load_model_from_text(xml);
    EXPECT_THAT(model.unsupported, IsEmpty()) << scene.name;
    MujocoEngine engine = MujocoEngine::from_text(xml);
    PhysicsState<double> state = testing::start_of(model);
    engine.set_state(state.q, state.v);
    ASSERT_TRUE(engine.step({}, scene.steps)) << scene.name;
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.contact.stiffness *= 10.0;
    parameters.contact.damping *= 5.0;
    parameters.contact.width = 0.002;
    parameters.contact.slip_speed = 0.005;
    state = testing::run(model, parameters, state, {}, scene.steps);
    double apart = 0.0, fastest = 0.0;
    for (std::size_t body = 0; body < model.joints.size(); ++body) {
      for (int k = 0; k < 3; ++k) {
        const int q = model.joints[body].q + k;
        apart = std::max(apart, std::abs(state.q[q] - engine.q()[q]));
        fastest = std::max(fastest, std::abs(state.v[model.joints[body].v + k]));
      }
    }
    EXPECT_LT(apart, scene.tolerance) << scene.name;
    EXPECT_LT(fastest, 0.01) << scene.name;
    std::printf("%-22s %zu pairs, %.1f mm from MuJoCo's, %.1f mm/s, %.1f mm deep\n", scene.name, model.pairs.size(),
                1e3 * apart, 1e3 * fastest, 1e3 * testing::deepest(model, state));
  }
}

// Balls, capsules and boxes thrown into a heap.
std::string heap_xml() {
  std::string bodies;
  const char* const geoms[] = {"type='box' size='.1 .08 .12'",  "size='.1'",
                               "type='capsule' size='.06 .12'", "type='box' size='.15 .1 .05'",
                               "type='capsule' size='.05 .2'",  "size='.08'"};
  int i = 0;
  for (const char* const geom : geoms) {
    bodies += fmt::format(
        "<body pos='{} {} {}' euler='{} {} 0'><freejoint/><geom {} condim='6' friction='1 .05 .02'/></body>",
        0.1 * (i % 2), 0.12 * (i % 3), 0.15 + 0.2 * i, 30 * i, 50 * i, geom);
    ++i;
  }
  return fmt::format(
      "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='5 5 1'/>"
      "<geom type='box' size='.2 .3 .05' pos='0 0 0'/><geom type='capsule' size='.1 .3' pos='.3 0 .1' euler='90 0 0'/>"
      "<geom size='.2' pos='-.3 0 .1'/>{}</worldbody></mujoco>",
      bodies);
}

TEST(BodyContact, DerivativesAreThoseOfDifferences) {
  struct Case {
    std::string name, xml;
    double reach;
  };
  std::vector<Case> cases;
  for (const Kinds& kinds : kKinds) cases.push_back({kinds.name, two_bodies(kinds, true, "condim='6'"), 0.3});
  cases.push_back({"capsule-wall", two_bodies(kKinds[4], false), 0.3});
  for (const Case& test : cases) {
    const Model model = load_model_from_text(test.xml);
    const PhysicsParameters parameters = suggest_parameters(model);
    const testing::Window window(model, parameters, 10);
    RandomStream random(6, Purpose::kTest);
    std::vector<double> differences;
    double forward = 0.0;
    for (std::uint32_t index = 0; differences.size() < 9 && index < 400; ++index) {
      PhysicsState<double> state = near_state(model, index, test.reach);
      for (double& v : state.v) v *= 0.1;
      const double depth = testing::deepest(model, state);
      if (depth < 0.002 || depth > 0.02) continue;
      const testing::WindowErrors errors = window.errors(state, random);
      differences.push_back(errors.difference);
      forward = std::max(forward, errors.forward);
    }
    ASSERT_EQ(differences.size(), 9U) << test.name;
    std::sort(differences.begin(), differences.end());
    EXPECT_LT(differences.back(), 1e-6) << test.name;
    EXPECT_LT(forward, 1e-11) << test.name;
    std::printf("%-16s differences: median %.1e, worst %.1e, forward mode %.1e\n", test.name.c_str(), differences[4],
                differences.back(), forward);
  }
}

// Two that strike each other in free flight part with less energy than they met with.
TEST(BodyContact, StrikesOnlyTakeEnergy) {
  for (const Kinds& kinds : kKinds) {
    for (const bool free : {true, false}) {
      const Model model = load_model_from_text(two_bodies(kinds, free));
      const PhysicsParameters parameters = suggest_parameters(model);
      int struck = 0;
      for (std::uint32_t index = 0; index < 60; ++index) {
        PhysicsState<double> state = near_state(model, index, 0.5);
        if (testing::deepest(model, state) > 0.0) continue;
        for (int k = 0; k < 3; ++k) {  // towards each other
          state.v[k] = 3.0 * ((free ? state.q[7 + k] : k == 2 ? 1.0 : 0.0) - state.q[k]);
          if (free) state.v[6 + k] = -state.v[k];
        }
        const double before = testing::kinetic_energy(model, state);
        double deepest = 0.0;
        for (int step = 0; step < 200; ++step) {
          state = testing::run(model, parameters, state, {}, 1);
          deepest = std::max(deepest, testing::deepest(model, state));
        }
        if (deepest < 0.002) continue;
        ++struck;
        EXPECT_LT(testing::kinetic_energy(model, state), before * (testing::deepest(model, state) > 0.0 ? 1.0 : 0.98))
            << kinds.name << " " << index;
      }
      EXPECT_GT(struck, 10) << kinds.name;
    }
  }
}

TEST(BodyContact, AHeapComesToRest) {
  const Model model = load_model_from_text(heap_xml());
  EXPECT_EQ(model.pairs.size(), 33U);
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.contact.slip_speed = 0.01;
  const PhysicsState<double> state = testing::run(model, parameters, testing::start_of(model), {}, 2500);
  EXPECT_LT(testing::kinetic_energy(model, state), 1e-3);
  EXPECT_LT(testing::deepest(model, state), 0.03);
}

// The forces on the lower one of two balls are its own weight, and the upper one's; pictures show each.
TEST(BodyContact, ForcesCarryTheWeight) {
  const Model model = load_model_from_text(
      "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='1 1 1'/>"
      "<body pos='0 0 .1'><joint type='slide' axis='0 0 1'/><geom size='.1' mass='2'/></body>"
      "<body pos='0 0 .3'><joint type='slide' axis='0 0 1'/><geom size='.1' mass='3'/></body></worldbody></mujoco>");
  const PhysicsParameters parameters = suggest_parameters(model);
  const PhysicsState<double> state = testing::run(model, parameters, testing::start_of(model), {}, 2000);
  const auto kinematics = forward_kinematics<double>(model, state.q, state.v, DofAxes::kTree);
  ASSERT_EQ(model.pairs.size(), 1U);
  EXPECT_NEAR(pair_force(parameters.contact, kinematics, model.pairs[0])[2], -3.0 * 9.81, 0.01);
  const auto forces = contact_forces(model, parameters.contact, kinematics);
  ASSERT_EQ(forces.size(), 3U);  // the upper one does not reach the floor
  double sum = 0.0;
  for (const ContactForce& force : forces) sum += force.force[2];
  EXPECT_NEAR(sum, (5.0 + 3.0) * 9.81, 0.02);
  EXPECT_NEAR(forces[2].position[2], 0.5 * (0.4 + state.q[0] + state.q[1]), 1e-9);
  EXPECT_EQ(testing::depths(model, state).size(), 3U);
}

// Sizes that no robot has, concentric bodies, boxes on top of each other: numbers stay finite, also their derivatives.
TEST(BodyContact, OddSizesStayFinite) {
  const char* const odd[] = {"size='1e-5'",
                             "size='1e4'",
                             "type='capsule' size='1e-4 1e-9'",
                             "type='capsule' size='1e-3 1e3'",
                             "type='box' size='1e-6 1 1'",
                             "type='box' size='1e3 1e-5 1e-3'",
                             "type='box' size='.1 .1 .1'"};
  for (const char* first : odd) {
    for (const char* second : odd) {
      const Model model = load_model_from_text(two_bodies({"", first, second}, true, "condim='6' margin='.01'",
                                                          "<inertial pos='0 0 0' mass='1' diaginertia='.1 .1 .1'/>"));
      ASSERT_EQ(model.pairs.size(), 1U);
      const PhysicsParameters parameters = suggest_parameters(model);
      const Graph step = testing::trace_window(model, parameters, 1);
      const Graph reverse = differentiate(
          step, {.seeds = {testing::all(step.outputs().size())}, .wrt = testing::all(step.inputs().size())});
      for (std::uint32_t index = 0; index < 6; ++index) {
        PhysicsState<double> state = near_state(model, index, index < 3 ? 0.0 : 0.2);
        if (index == 0) {
          for (int i = 0; i < 7; ++i) state.q[i] = state.q[7 + i];
        }
        std::vector<double> x = testing::joined(state.q, state.v);
        for (const double next : evaluate(step, x)) ASSERT_TRUE(std::isfinite(next)) << first << ", " << second;
        x.insert(x.end(), step.outputs().size(), 1.0);
        for (const double slope : evaluate(reverse, x)) ASSERT_TRUE(std::isfinite(slope)) << first << ", " << second;
      }
    }
  }
}

}  // namespace
}  // namespace cgpo
