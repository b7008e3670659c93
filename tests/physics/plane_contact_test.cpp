// Solids on planes: depths against MuJoCo's collisions, rest, sliding, rolling, spinning.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cgpo/physics/mujoco/engine.hpp"

#include "simulate.hpp"

namespace cgpo {
namespace {

constexpr const char* kMesh =
    "<asset><mesh name='roof' vertex='-.1 -.2 -.1  .1 -.2 -.1  -.1 .2 -.1  .1 .2 -.1  "
    "0 -.2 .1  0 .2 .1'/></asset>";

std::string on_a_plane(const std::string& geom, const std::string& floor = "", const std::string& place = "0 0 0.5") {
  return fmt::format(
      "<mujoco>{}<option timestep='0.005'/><worldbody><geom name='floor' type='plane' size='5 5 1' {}/>"
      "<body name='thing' pos='{}'><freejoint/><geom name='skin' {}/></body></worldbody></mujoco>",
      kMesh, floor, place, geom);
}

struct Solid {
  const char* name;
  const char* geom;
};
constexpr Solid kSolids[] = {{"sphere", "type='sphere' size='.1'"},
                             {"capsule", "type='capsule' size='.08 .15'"},
                             {"cylinder", "type='cylinder' size='.1 .15'"},
                             {"box", "type='box' size='.1 .15 .2'"},
                             {"ellipsoid", "type='ellipsoid' size='.1 .15 .2'"},
                             {"mesh", "type='mesh' mesh='roof'"}};

// The deepest point of each solid is as deep as MuJoCo's. A cylinder that is nearly
// upright touches inside its rim, by up to a hundredth of its radius deep.
TEST(PlaneContact, DepthsAreThoseOfMujoco) {
  for (const Solid& solid : kSolids) {
    const std::string xml = on_a_plane(solid.geom, "pos='0.1 0 0.05' euler='10 20 0'");
    const Model model = load_model_from_text(xml);
    EXPECT_TRUE(model.unsupported.empty()) << solid.name;
    MujocoEngine engine = MujocoEngine::from_text(xml);
    const double tolerance = std::string(solid.name) == "cylinder" ? 1e-3 : 1e-6;  // vertices of meshes are floats
    int touching = 0;
    for (std::uint32_t index = 0; index < 400; ++index) {
      RandomState random = random_state(model, 5, index);
      random.q[2] = 0.05 + 0.1 * (random.q[2] - 0.5) + 0.1;
      engine.set_state(random.q, random.v);
      engine.forward({});
      const std::vector<double> theirs = engine.contact_depths();
      const double ours = testing::deepest(model, {random.q, random.v});
      if (theirs.empty()) {
        EXPECT_LT(ours, tolerance) << solid.name;
        continue;
      }
      ++touching;
      EXPECT_NEAR(ours, *std::max_element(theirs.begin(), theirs.end()), tolerance) << solid.name << " " << index;
    }
    EXPECT_GT(touching, 30) << solid.name;
  }
}

// Dropped a little, each lies as high as MuJoCo's up to the softness of our floor, and at rest.
TEST(PlaneContact, SolidsRestWhereMujocosDo) {
  for (const Solid& solid : kSolids) {
    const std::string xml = on_a_plane(solid.geom, "", "0 0 0.22");
    const Model model = load_model_from_text(xml);
    MujocoEngine engine = MujocoEngine::from_text(xml);
    PhysicsState<double> state = testing::start_of(model);
    engine.set_state(state.q, state.v);
    ASSERT_TRUE(engine.step({}, 600));
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.contact.stiffness *= 4.0;
    state = testing::run(model, parameters, state, {}, 600);
    EXPECT_NEAR(state.q[2], engine.q()[2], 0.008) << solid.name;
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(state.v[k], 0.0, 0.01) << solid.name;
    std::printf("%-10s rests %.1f mm below MuJoCo's\n", solid.name, 1e3 * (engine.q()[2] - state.q[2]));
  }
}

// A box that slides loses μg of its speed a second.
TEST(PlaneContact, SlidingBoxLosesItsSpeed) {
  const Model model =
      load_model_from_text(on_a_plane("type='box' size='.2 .2 .05' friction='0.3'", "friction='0.3'", "0 0 0.045"));
  PhysicsParameters parameters = suggest_parameters(model);
  parameters.contact.slip_speed = 0.01;
  parameters.contact.slip_lift = 0.0;
  PhysicsState<double> state = testing::run(model, parameters, testing::start_of(model), {}, 400);
  state.v[0] = 3.0;
  state = testing::run(model, parameters, state, {}, 100);
  EXPECT_NEAR(state.v[0], 3.0 - 0.5 * 0.3 * 9.81, 0.05);
}

// A ball spins about the normal, or rolls, against ν N: ω' = ν m g/I, with what friction adds to a roll, I + m r².
TEST(PlaneContact, SpinAndRollAreBraked) {
  const double radius = 0.1, gravity = 9.81;
  const auto after = [&](int dimensions, int axis) {
    const Model model = load_model_from_text(on_a_plane(
        fmt::format("type='sphere' size='{}' condim='{}' friction='1 0.02 0.01'", radius, dimensions), "", "0 0 0.1"));
    PhysicsParameters parameters = suggest_parameters(model);
    parameters.contact.slip_speed = 0.005;
    parameters.contact.slip_lift = 0.0;
    PhysicsState<double> state = testing::run(model, parameters, testing::start_of(model), {}, 400);
    state.v[3 + axis] = 20.0;
    if (axis == 1) state.v[0] = 20.0 * radius;
    return testing::run(model, parameters, state, {}, 40).v[3 + axis];
  };
  EXPECT_NEAR(after(3, 2), 20.0, 0.01);
  EXPECT_NEAR(after(4, 2), 20.0 - 0.2 * 0.02 * gravity / (0.4 * radius * radius), 0.3);
  EXPECT_NEAR(after(4, 1), 20.0, 0.2);
  EXPECT_NEAR(after(6, 1), 20.0 - 0.2 * 0.01 * gravity / (1.4 * radius * radius), 0.3);
}

}  // namespace
}  // namespace cgpo
