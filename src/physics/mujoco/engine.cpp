#include "cgpo/physics/mujoco/engine.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/base/random.hpp"
#include "cgpo/physics/dynamics/smooth_dynamics.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {

namespace {

// Whether all that a step's result depends on is in what MuJoCo calls the integration state, and begins the same
// whatever the time step. What sleeps, what flexible bodies remember and what a plugin keeps to itself is not; buffers
// of delays begin with times.
bool has_all_in_its_state(const mjModel& model) {
  return model.nflex == 0 && model.nplugin == 0 && model.nhistory == 0 &&
         (model.opt.enableflags & (mjENBL_SLEEP | mjENBL_IPC)) == 0;
}

}  // namespace

struct MujocoEngine::Parts {
  std::shared_ptr<mjModel> model;
  MujocoData data = nullptr;
  Derivatives derivatives = {};
  std::vector<mjtNum> fresh = {};  // the integration state of data that nothing has been done to
  bool tainted = false;            // a step failed: nobody knows what is left of it

  explicit Parts(std::shared_ptr<mjModel> model_in) : model(std::move(model_in)), data(mj_makeData(model.get())) {
    check(data != nullptr, "MuJoCo has memory for its data");
    fresh.resize(static_cast<std::size_t>(mj_stateSize(model.get(), mjSTATE_INTEGRATION)));
    mj_getState(model.get(), data.get(), fresh.data(), mjSTATE_INTEGRATION);
  }

  // As mj_resetData, for all that a step's result depends on. That one clears 160 kB of statistics, too, which takes as
  // long as half a step of a small robot and empties the cache.
  void reset() {
    if (tainted || !has_all_in_its_state(*model)) {
      mj_resetData(model.get(), data.get());
      return;
    }
    mj_setState(model.get(), data.get(), fresh.data(), mjSTATE_INTEGRATION);
    std::fill(std::begin(data->warning), std::end(data->warning), mjWarningStat{});
  }
};

MujocoEngine::MujocoEngine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
MujocoEngine::MujocoEngine(MujocoEngine&&) noexcept = default;
MujocoEngine& MujocoEngine::operator=(MujocoEngine&&) noexcept = default;
MujocoEngine::~MujocoEngine() = default;

MujocoEngine MujocoEngine::from_file(const std::string& path) {
  return MujocoEngine(std::make_unique<Parts>(std::shared_ptr<mjModel>(compile_file(path))));
}
MujocoEngine MujocoEngine::from_text(const std::string& xml, const std::string& name) {
  return MujocoEngine(std::make_unique<Parts>(std::shared_ptr<mjModel>(compile_text(xml, name))));
}
MujocoEngine MujocoEngine::on_same_model() const { return MujocoEngine(std::make_unique<Parts>(parts_->model)); }

int MujocoEngine::nq() const { return count(parts_->model->nq); }
int MujocoEngine::nv() const { return count(parts_->model->nv); }
int MujocoEngine::nu() const { return count(parts_->model->nu); }
int MujocoEngine::na() const { return count(parts_->model->na); }
double MujocoEngine::timestep() const { return parts_->model->opt.timestep; }
void MujocoEngine::set_timestep(double timestep) { parts_->model->opt.timestep = timestep; }
void MujocoEngine::leave_out_unsupported() { cgpo::leave_out_unsupported(*parts_->model); }
void MujocoEngine::leave_out_measurements() {
  mjModel& model = *parts_->model;
  if (model.nplugin > 0 || model.nhistory > 0) return;  // a plugin may look at a sensor, and so may a delay
  model.opt.disableflags |= mjDSBL_SENSOR;
  model.opt.enableflags &= ~(mjENBL_ENERGY | mjENBL_FWDINV);
}
void MujocoEngine::use_euler() { parts_->model->opt.integrator = mjINT_EULER; }

MujocoEngine::WithoutConstraints::WithoutConstraints(MujocoEngine& engine)
    : engine_(engine), flags_(engine.parts_->model->opt.disableflags) {
  engine.parts_->model->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
}
MujocoEngine::WithoutConstraints::~WithoutConstraints() { engine_.parts_->model->opt.disableflags = flags_; }

void MujocoEngine::set_state(std::span<const double> q, std::span<const double> v, std::span<const double> activation) {
  mjData* const data = parts_->data.get();
  check(static_cast<int>(q.size()) == nq() && static_cast<int>(v.size()) == nv(), "the state has the model's size");
  check(activation.empty() || static_cast<int>(activation.size()) == na(), "the state has all activations, or none");
  parts_->reset();
  std::copy(q.begin(), q.end(), data->qpos);
  std::copy(v.begin(), v.end(), data->qvel);
  std::copy(activation.begin(), activation.end(), data->act);
}

bool MujocoEngine::step(std::span<const double> control, int substeps) {
  mjData* const data = parts_->data.get();
  check(static_cast<int>(control.size()) == nu(), "one control for each actuator");
  std::copy(control.begin(), control.end(), data->ctrl);
  parts_->tainted = true;  // and stays so if MuJoCo throws, too
  for (int i = 0; i < substeps; ++i) {
    mj_step(parts_->model.get(), data);
    const auto bad = [&](mjtWarning warning) { return data->warning[warning].number > 0; };
    if (bad(mjWARN_BADQPOS) || bad(mjWARN_BADQVEL) || bad(mjWARN_BADQACC) || bad(mjWARN_BADCTRL)) return false;
  }
  parts_->tainted = false;
  return true;
}

int leftover_size(const Model& model, Leftover kind) {
  const int bodies = static_cast<int>(model.bodies.size());
  switch (kind) {
    case Leftover::kTorsoPlace:
    case Leftover::kMassCentre: return 2;
    case Leftover::kInertias: return 10 * bodies;
    case Leftover::kVelocities:
    case Leftover::kOutsideForces: return 6 * bodies;
    case Leftover::kActuatorForces:
    case Leftover::kWarmStart: return model.nv;
  }
  return 0;
}

void MujocoEngine::copy_leftover(Leftover kind, std::span<double> to) const {
  const mjModel& model = *parts_->model;
  const mjData& data = *parts_->data;
  const auto copy = [&](const mjtNum* from) { std::copy_n(from, to.size(), to.begin()); };
  switch (kind) {
    case Leftover::kTorsoPlace: copy(data.xpos + 3); break;
    case Leftover::kMassCentre: {
      double mass = 0.0;
      double moment[2] = {0.0, 0.0};
      for (int i = 0; i < count(model.nbody); ++i) {
        mass += model.body_mass[i];
        for (int k = 0; k < 2; ++k) moment[k] += model.body_mass[i] * data.xipos[3 * i + k];
      }
      for (std::size_t k = 0; k < 2; ++k) to[k] = moment[k] / mass;
      break;
    }
    case Leftover::kInertias: copy(data.cinert); break;
    case Leftover::kVelocities: copy(data.cvel); break;
    case Leftover::kActuatorForces: copy(data.qfrc_actuator); break;
    case Leftover::kOutsideForces: copy(data.cfrc_ext); break;
    case Leftover::kWarmStart: copy(data.qacc_warmstart); break;
  }
}

void MujocoEngine::find_outside_forces() { mj_rnePostConstraint(parts_->model.get(), parts_->data.get()); }

void MujocoEngine::set_warm_start(std::span<const double> acceleration) {
  check(static_cast<int>(acceleration.size()) == nv(), "a warm start has the model's size");
  std::copy(acceleration.begin(), acceleration.end(), parts_->data->qacc_warmstart);
}

auto MujocoEngine::transition_derivatives() -> const Derivatives& {
  constexpr double kWidth = 1e-6;  // MuJoCo's own choice
  const std::size_t order = 2 * static_cast<std::size_t>(nv()) + static_cast<std::size_t>(na());
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
std::span<const double> MujocoEngine::activation() const { return view(parts_->data->act, na()); }
std::span<const double> MujocoEngine::bias() const { return view(parts_->data->qfrc_bias, nv()); }
std::span<const double> MujocoEngine::passive() const { return view(parts_->data->qfrc_passive, nv()); }
std::span<const double> MujocoEngine::actuation() const { return view(parts_->data->qfrc_actuator, nv()); }
std::span<const double> MujocoEngine::activation_rate() const { return view(parts_->data->act_dot, na()); }
std::span<const double> MujocoEngine::smooth_acceleration() const { return view(parts_->data->qacc_smooth, nv()); }
std::span<const double> MujocoEngine::acceleration() const { return view(parts_->data->qacc, nv()); }
std::vector<double> MujocoEngine::equality_residuals() const {
  return {parts_->data->efc_pos, parts_->data->efc_pos + parts_->data->ne};
}

std::array<std::span<const double>, 4> MujocoEngine::passive_parts() const {
  const mjData& data = *parts_->data;
  return {view(data.qfrc_spring, nv()), view(data.qfrc_damper, nv()), view(data.qfrc_gravcomp, nv()),
          view(data.qfrc_fluid, nv())};
}

std::vector<double> MujocoEngine::mass_matrix() const {
  std::vector<double> dense(static_cast<std::size_t>(nv()) * static_cast<std::size_t>(nv()));
  mj_fullM(parts_->model.get(), parts_->data.get(), dense.data());
  return dense;
}

std::span<const double> MujocoEngine::tendon_lengths() const {
  return view(parts_->data->ten_length, count(parts_->model->ntendon));
}
std::span<const double> MujocoEngine::tendon_velocities() const {
  return view(parts_->data->ten_velocity, count(parts_->model->ntendon));
}

std::vector<double> MujocoEngine::tendon_moments() const {
  const mjModel& model = *parts_->model;
  std::vector<double> dense(static_cast<std::size_t>(model.ntendon) * static_cast<std::size_t>(nv()));
  for (int i = 0; i < model.ntendon; ++i) {
    for (int k = 0; k < model.ten_J_rownnz[i]; ++k) {
      const int at = model.ten_J_rowadr[i] + k;
      dense[i * nv() + model.ten_J_colind[at]] = parts_->data->ten_J[at];
    }
  }
  return dense;
}

int MujocoEngine::contact_count() const { return parts_->data->ncon; }

std::vector<double> MujocoEngine::contact_depths() const {
  std::vector<double> depths;
  for (int i = 0; i < contact_count(); ++i) depths.push_back(-parts_->data->contact[i].dist);
  return depths;
}

namespace {

// What pushes the second geom of a contact, in the world's axes.
Vec3<double> force_on_second(const mjModel& model, const mjData& data, int id) {
  mjtNum in_frame[6];  // along the rows of the contact's frame
  mj_contactForce(&model, &data, id, in_frame);
  const mjtNum* const frame = data.contact[id].frame;
  Vec3<double> force;
  for (int k = 0; k < 3; ++k) {
    for (int row = 0; row < 3; ++row) force[k] += frame[3 * row + k] * in_frame[row];
  }
  return force;
}

}  // namespace

std::vector<ContactForce> MujocoEngine::contact_forces() const {
  const mjModel* const model = parts_->model.get();
  std::vector<ContactForce> forces;
  for (int i = 0; i < contact_count(); ++i) {
    const mjContact& contact = parts_->data->contact[i];
    const int second = contact.geom[1];  // −1: a part of a flex, whose bodies move
    const bool second_moves = second < 0 || model->body_treeid[model->geom_bodyid[second]] >= 0;
    const Vec3<double> force = force_on_second(*model, *parts_->data, i);
    forces.push_back({vec3(contact.pos[0], contact.pos[1], contact.pos[2]), second_moves ? force : -force});
  }
  return forces;
}

Vec3<double> MujocoEngine::contact_force_on(const ContactTarget& target) const {
  const mjModel& model = *parts_->model;
  Vec3<double> sum;
  for (int i = 0; i < contact_count(); ++i) {
    const auto is_target = [&](int geom) {  // −1: a part of a flex
      return geom >= 0 && target.id == (target.is_geom ? geom : model.geom_bodyid[geom]);
    };
    const mjContact& contact = parts_->data->contact[i];
    const bool on_first = is_target(contact.geom[0]);
    const bool on_second = is_target(contact.geom[1]);
    if (on_first == on_second) continue;
    const Vec3<double> force = force_on_second(model, *parts_->data, i);
    sum = on_second ? sum + force : sum - force;
  }
  return sum;
}

Vec3<double> MujocoEngine::body_position(int body) const {
  const mjtNum* const p = parts_->data->xpos + std::ptrdiff_t{3} * body;
  return vec3(p[0], p[1], p[2]);
}

// ---- comparison ----------------------------------------------------------------------------------------------------

RandomState random_state(const Model& model, std::uint64_t seed, std::uint32_t index) {
  RandomStream random(seed, Purpose::kCheck, 0, index);
  RandomState state{model.q0, std::vector<double>(model.nv), std::vector<double>(model.nu),
                    std::vector<double>(model.na)};
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
  for (double& x : state.activation) x = random.normal();
  return state;
}

namespace {

// Below this share of what moving such a body takes, a passive force is zero up to rounding.
constexpr double kNothing = 1e-6;

void keep_worst(double& worst, double error) {  // a NaN stays
  if (!std::isnan(worst) && !(error <= worst)) worst = error;
}

// One quantity over all states: for each degree of freedom the largest difference, and how large the number is.
struct DofErrors {
  std::vector<double> difference, size;

  explicit DofErrors(int nv) : difference(static_cast<std::size_t>(nv)), size(difference.size()) {}
  void add(std::span<const double> ours, std::span<const double> theirs) {
    for (std::size_t i = 0; i < size.size(); ++i) {
      keep_worst(difference[i], std::abs(ours[i] - theirs[i]));
    }
    grow(theirs);
  }
  void grow(std::span<const double> sizes, double factor = 1.0) {
    for (std::size_t i = 0; i < size.size(); ++i) size[i] = std::max(size[i], factor * std::abs(sizes[i]));
  }
  double value() const {
    double worst = 0.0;
    for (std::size_t i = 0; i < size.size(); ++i) {
      keep_worst(worst, difference[i] == 0.0 ? 0.0 : difference[i] / size[i]);
    }
    return worst;
  }
};

// Of entry (i, j), relative to √(M_ii M_jj), which no entry exceeds. `diagonal` takes MuJoCo's M_ii.
double mass_matrix_error(const SymmetricMatrix<double>& ours, const std::vector<double>& theirs,
                         std::vector<double>& diagonal) {
  const std::size_t nv = diagonal.size();
  for (std::size_t i = 0; i < nv; ++i) diagonal[i] = theirs[i * nv + i];
  double worst = 0.0;
  for (std::size_t i = 0; i < nv; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double difference = std::abs(ours(static_cast<int>(i), static_cast<int>(j)) - theirs[i * nv + j]);
      keep_worst(worst, difference == 0.0 ? 0.0 : difference / std::sqrt(diagonal[i] * diagonal[j]));
    }
  }
  return worst;
}

}  // namespace

ModelComparison compare_with_mujoco(const Model& model, MujocoEngine& engine, int states, std::uint64_t seed) {
  engine.use_euler();
  const MujocoEngine::WithoutConstraints without(engine);
  double mass_matrix = 0.0;
  DofErrors bias(model.nv), passive(model.nv), acceleration(model.nv);
  std::vector<double> diagonal(static_cast<std::size_t>(model.nv)), natural(diagonal);
  for (int index = 0; index < states; ++index) {
    const RandomState state = random_state(model, seed, static_cast<std::uint32_t>(index));
    engine.set_state(state.q, state.v, state.activation);
    engine.forward(state.control);
    const SmoothDynamics<double> ours = smooth_dynamics(model, PhysicsState<double>{state.q, state.v, state.activation},
                                                        std::span<const double>(state.control));
    keep_worst(mass_matrix, mass_matrix_error(ours.mass_matrix, engine.mass_matrix(), diagonal));
    bias.add(ours.bias, engine.bias());
    passive.add(ours.passive, engine.passive());
    acceleration.add(ours.acceleration, engine.smooth_acceleration());
    // The acceleration of the fall, or of going round at the states' speeds, and the force that it takes.
    double fall = std::hypot(model.gravity[0], model.gravity[1], model.gravity[2]);
    for (const double speed : state.v) fall = std::max(fall, speed * speed);
    std::fill(natural.begin(), natural.end(), fall);
    acceleration.grow(natural);
    for (std::size_t i = 0; i < natural.size(); ++i) natural[i] *= diagonal[i];
    bias.grow(natural);
    passive.grow(natural, kNothing);
    for (const std::span<const double> part : engine.passive_parts()) passive.grow(part);
    // What each force alone would give.
    for (const std::span<const double> force : {engine.bias(), engine.passive(), engine.actuation()}) {
      for (std::size_t i = 0; i < natural.size(); ++i) natural[i] = force[i] / diagonal[i];
      acceleration.grow(natural);
    }
  }
  return {mass_matrix, bias.value(), passive.value(), acceleration.value()};
}

ModelComparison compare_with_mujoco(const std::string& path, int states, std::uint64_t seed) {
  MujocoEngine engine = MujocoEngine::from_file(path);
  return compare_with_mujoco(load_model(path), engine, states, seed);
}

}  // namespace cgpo
