#include "cgpo/physics/mujoco/engine.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/base/random.hpp"
#include "cgpo/physics/dynamics/smooth_dynamics.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {

struct MujocoEngine::Parts {
  MujocoModel model;
  MujocoData data;
  Derivatives derivatives = {};
};

MujocoEngine::MujocoEngine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  parts_->data.reset(mj_makeData(parts_->model.get()));
  check(parts_->data != nullptr, "MuJoCo has memory for its data");
}
MujocoEngine::MujocoEngine(MujocoEngine&&) noexcept = default;
MujocoEngine& MujocoEngine::operator=(MujocoEngine&&) noexcept = default;
MujocoEngine::~MujocoEngine() = default;

MujocoEngine MujocoEngine::from_file(const std::string& path) {
  return MujocoEngine(std::make_unique<Parts>(Parts{compile_file(path), nullptr}));
}
MujocoEngine MujocoEngine::from_text(const std::string& xml, const std::string& name) {
  return MujocoEngine(std::make_unique<Parts>(Parts{compile_text(xml, name), nullptr}));
}

int MujocoEngine::nq() const { return count(parts_->model->nq); }
int MujocoEngine::nv() const { return count(parts_->model->nv); }
int MujocoEngine::nu() const { return count(parts_->model->nu); }
double MujocoEngine::timestep() const { return parts_->model->opt.timestep; }
void MujocoEngine::set_timestep(double timestep) { parts_->model->opt.timestep = timestep; }
void MujocoEngine::leave_out_unsupported() { cgpo::leave_out_unsupported(*parts_->model); }

void MujocoEngine::set_state(std::span<const double> q, std::span<const double> v) {
  mjData* const data = parts_->data.get();
  check(static_cast<int>(q.size()) == nq() && static_cast<int>(v.size()) == nv(), "the state has the model's size");
  mj_resetData(parts_->model.get(), data);
  std::copy(q.begin(), q.end(), data->qpos);
  std::copy(v.begin(), v.end(), data->qvel);
}

bool MujocoEngine::step(std::span<const double> control, int substeps) {
  mjData* const data = parts_->data.get();
  check(static_cast<int>(control.size()) == nu(), "one control for each actuator");
  std::copy(control.begin(), control.end(), data->ctrl);
  for (int i = 0; i < substeps; ++i) {
    mj_step(parts_->model.get(), data);
    const auto bad = [&](mjtWarning warning) { return data->warning[warning].number > 0; };
    if (bad(mjWARN_BADQPOS) || bad(mjWARN_BADQVEL) || bad(mjWARN_BADQACC) || bad(mjWARN_BADCTRL)) return false;
  }
  return true;
}

auto MujocoEngine::transition_derivatives() -> const Derivatives& {
  constexpr double kWidth = 1e-6;  // MuJoCo's own choice
  const std::size_t order = 2 * static_cast<std::size_t>(nv());
  Derivatives& result = parts_->derivatives;
  result.state.resize(order * order);
  result.control.resize(order * static_cast<std::size_t>(nu()));
  mjd_transitionFD(parts_->model.get(), parts_->data.get(), kWidth, /*flg_centered=*/0, result.state.data(),
                   result.control.data(), nullptr, nullptr);
  return result;
}

void MujocoEngine::forward(std::span<const double> control) {
  check(static_cast<int>(control.size()) == nu(), "one control for each actuator");
  std::copy(control.begin(), control.end(), parts_->data->ctrl);
  mj_forward(parts_->model.get(), parts_->data.get());
}

namespace {

std::span<const double> view(const mjtNum* data, int size) { return {data, static_cast<std::size_t>(size)}; }

}  // namespace

std::span<const double> MujocoEngine::q() const { return view(parts_->data->qpos, nq()); }
std::span<const double> MujocoEngine::v() const { return view(parts_->data->qvel, nv()); }
std::span<const double> MujocoEngine::bias() const { return view(parts_->data->qfrc_bias, nv()); }
std::span<const double> MujocoEngine::passive() const { return view(parts_->data->qfrc_passive, nv()); }
std::span<const double> MujocoEngine::actuation() const { return view(parts_->data->qfrc_actuator, nv()); }
std::span<const double> MujocoEngine::smooth_acceleration() const { return view(parts_->data->qacc_smooth, nv()); }

std::vector<double> MujocoEngine::mass_matrix() const {
  std::vector<double> dense(static_cast<std::size_t>(nv()) * static_cast<std::size_t>(nv()));
  mj_fullM(parts_->model.get(), parts_->data.get(), dense.data());
  return dense;
}

int MujocoEngine::contact_count() const { return parts_->data->ncon; }

std::vector<double> MujocoEngine::contact_depths() const {
  std::vector<double> depths;
  for (int i = 0; i < contact_count(); ++i) depths.push_back(-parts_->data->contact[i].dist);
  return depths;
}

std::vector<ContactForce> MujocoEngine::contact_forces() const {
  const mjModel* const model = parts_->model.get();
  std::vector<ContactForce> forces;
  for (int i = 0; i < contact_count(); ++i) {
    const mjContact& contact = parts_->data->contact[i];
    mjtNum in_frame[6];  // on the second geom, along the rows of contact.frame
    mj_contactForce(model, parts_->data.get(), i, in_frame);
    const int second = contact.geom[1];  // −1: a part of a flex, whose bodies move
    const bool second_moves = second < 0 || model->body_treeid[model->geom_bodyid[second]] >= 0;
    Vec3<double> force;
    for (int k = 0; k < 3; ++k) {
      for (int row = 0; row < 3; ++row) force[k] += contact.frame[3 * row + k] * in_frame[row];
      if (!second_moves) force[k] = -force[k];
    }
    forces.push_back({vec3(contact.pos[0], contact.pos[1], contact.pos[2]), force});
  }
  return forces;
}

Vec3<double> MujocoEngine::body_position(int body) const {
  const mjtNum* const p = parts_->data->xpos + std::ptrdiff_t{3} * body;
  return vec3(p[0], p[1], p[2]);
}

// ---- comparison ----------------------------------------------------------------------------------------------------

RandomState random_state(const Model& model, std::uint64_t seed, std::uint32_t index) {
  RandomStream random(seed, Purpose::kCheck, 0, index);
  RandomState state{model.q0, std::vector<double>(model.nv), std::vector<double>(model.nu)};
  const auto set_quaternion = [&](int first) {
    double square = 0.0;
    for (int k = 0; k < 4; ++k) {
      state.q[first + k] = random.normal();
      square += state.q[first + k] * state.q[first + k];
    }
    for (int k = 0; k < 4; ++k) state.q[first + k] /= std::sqrt(square);
  };
  for (const Joint& joint : model.joints) {
    const int straight = joint.type == JointType::kFree ? 3 : joint.type == JointType::kBall ? 0 : 1;
    for (int k = 0; k < straight; ++k) state.q[joint.q + k] += random.uniform(-1.5, 1.5);
    if (joint.type <= JointType::kBall) set_quaternion(joint.q + straight);
  }
  for (double& x : state.v) x = 2.0 * random.normal();
  for (double& x : state.control) x = 1.5 * random.normal();
  return state;
}

namespace {

// Below this share of what moving such a body takes, a force or an acceleration is zero up to rounding.
constexpr double kNothing = 1e-6;

struct RelativeError {
  double difference = 0.0;
  double largest = 0.0;

  void add(double ours, double theirs) {
    const double distance = std::abs(ours - theirs);
    if (!(distance <= difference)) difference = distance;  // a NaN stays
    largest = std::max(largest, std::abs(theirs));
  }
  void add(std::span<const double> ours, std::span<const double> theirs) {
    for (std::size_t i = 0; i < ours.size(); ++i) add(ours[i], theirs[i]);
  }
  // natural: the size that such numbers have in this model.
  double value(double natural) const {
    return difference == 0.0 ? 0.0 : difference / std::max(largest, kNothing * natural);
  }
};

}  // namespace

ModelComparison compare_with_mujoco(const Model& model, MujocoEngine& engine, int states, std::uint64_t seed) {
  RelativeError mass_matrix, bias, passive, acceleration;
  double natural =
      std::hypot(model.gravity[0], model.gravity[1],
                 model.gravity[2]);  // acceleration: that of the fall, or of going round at the states' speeds
  for (int index = 0; index < states; ++index) {
    const RandomState state = random_state(model, seed, static_cast<std::uint32_t>(index));
    engine.set_state(state.q, state.v);
    engine.forward(state.control);
    const SmoothDynamics<double> ours =
        smooth_dynamics(model, PhysicsState<double>{state.q, state.v}, std::span<const double>(state.control));
    const std::vector<double> dense = engine.mass_matrix();
    for (int i = 0; i < model.nv; ++i) {
      for (int j = 0; j < model.nv; ++j) mass_matrix.add(ours.mass_matrix(i, j), dense[i * model.nv + j]);
    }
    bias.add(ours.bias, engine.bias());
    passive.add(ours.passive, engine.passive());
    acceleration.add(ours.acceleration, engine.smooth_acceleration());
    for (const double speed : state.v) natural = std::max(natural, speed * speed);
  }
  const double force = mass_matrix.largest * natural;
  return {mass_matrix.value(0.0), bias.value(force), passive.value(force), acceleration.value(natural)};
}

ModelComparison compare_with_mujoco(const std::string& path, int states, std::uint64_t seed) {
  MujocoEngine engine = MujocoEngine::from_file(path);
  return compare_with_mujoco(load_model(path), engine, states, seed);
}

}  // namespace cgpo
