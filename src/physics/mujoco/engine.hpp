// MuJoCo's own simulation: the oracle for our dynamics, and an engine without gradients.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cgpo/physics/dynamics/contact_queries.hpp"
#include "cgpo/physics/model/model.hpp"

namespace cgpo {

// What a step leaves in MuJoCo's data beside the state. With a Runge-Kutta integrator it is that of the last stage that
// was looked at, a little beside the state that the step led to; but the warm start.
enum class Leftover : std::uint8_t {
  kTorsoPlace,      // x and y of the first body's frame
  kMassCentre,      // x and y of the centre of all masses
  kInertias,        // 10 of each body, the world among them, about the centre of its tree
  kVelocities,      // 6 of each body, at that centre
  kActuatorForces,  // one a degree of freedom
  kOutsideForces,   // 6 of each body: what contact, above all, does to it
  kWarmStart,       // one a degree of freedom: the accelerations that the next step's solver begins with
};
int leftover_size(const Model& model, Leftover kind);

class MujocoEngine {
 public:
  static MujocoEngine from_file(const std::string& path);
  static MujocoEngine from_text(const std::string& xml, const std::string& name = "model");
  // Another engine of the same compiled model, for another thread: what is done to a model later, all of its engines
  // see, so let nobody change it from then on.
  MujocoEngine on_same_model() const;
  MujocoEngine(MujocoEngine&&) noexcept;
  MujocoEngine& operator=(MujocoEngine&&) noexcept;
  ~MujocoEngine();

  int nq() const;
  int nv() const;
  int nu() const;
  int na() const;
  double timestep() const;
  void set_timestep(double timestep);
  // From now on without the forces of the elements that Model::unsupported lists, so that the rest can be compared.
  void leave_out_unsupported();
  // From now on without what a step computes and its result does not depend on: sensors, energies, statistics.
  void leave_out_measurements();
  // From now on with Euler's steps. 'discrete' puts the step into the accelerations; the others leave them alone.
  void use_euler();
  // While it lives, no constraint is looked for: what is left are the forces of the smooth dynamics, in less time.
  class WithoutConstraints {
   public:
    explicit WithoutConstraints(MujocoEngine& engine);
    ~WithoutConstraints();
    WithoutConstraints(const WithoutConstraints&) = delete;
    WithoutConstraints& operator=(const WithoutConstraints&) = delete;

   private:
    MujocoEngine& engine_;
    int flags_;
  };

  // Time, the solver's warm start and all else that a step reads begin anew, so that a step depends on nothing but
  // state and control. Without activations they are 0.
  void set_state(std::span<const double> q, std::span<const double> v, std::span<const double> activation = {});
  // false if MuJoCo found a bad state or control and went on with zeros; the state is then not to be used.
  bool step(std::span<const double> control, int substeps = 1);
  std::span<const double> q() const;
  std::span<const double> v() const;
  std::span<const double> activation() const;

  void copy_leftover(Leftover kind, std::span<double> to) const;  // of leftover_size()
  // That of outside forces is left by a step only where they are asked for.
  void find_outside_forces();
  // After set_state(), which begins without.
  void set_warm_start(std::span<const double> acceleration);

  // ∂(next state)/∂(state, control) by MuJoCo's own finite differences; the matrices are of size nv, not nq.
  struct Derivatives {
    std::vector<double> state;    // (2nv + na) × (2nv + na)
    std::vector<double> control;  // (2nv + na) × nu
  };
  const Derivatives& transition_derivatives();

  // All quantities at the current state, without a step.
  void forward(std::span<const double> control);
  std::vector<double> mass_matrix() const;  // nv × nv
  std::span<const double> bias() const;
  std::span<const double> passive() const;
  std::array<std::span<const double>, 4> passive_parts() const;  // springs, dampers, compensated gravity, fluid
  std::span<const double> actuation() const;
  std::span<const double> activation_rate() const;
  std::span<const double> smooth_acceleration() const;
  std::span<const double> acceleration() const;    // with contact, limits and all other constraints
  std::vector<double> equality_residuals() const;  // of all active equality constraints, one number a row
  // Lengths of all tendons, how fast they change, and ∂length/∂v.
  std::span<const double> tendon_lengths() const;
  std::span<const double> tendon_velocities() const;
  std::vector<double> tendon_moments() const;  // tendons × nv
  int contact_count() const;
  std::vector<double> contact_depths() const;
  std::vector<ContactForce> contact_forces() const;  // on the moving body of each contact
  // What touches a body or a geom pushes it with, by what the last step, or forward, found; after several substeps, the
  // last one of them.
  Vec3<double> contact_force_on(const ContactTarget& target) const;
  Vec3<double> body_position(int body) const;

 private:
  struct Parts;
  explicit MujocoEngine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Largest error over all states and degrees of freedom i, each relative to a size of its own, so that a light finger
// does not hide behind a heavy arm, and so that rounding is not taken for an error where forces cancel or are zero:
// * mass matrix: of entry (i, j), √(M_ii M_jj) in this state;
// * bias: MuJoCo's largest, or the force M_ii·a that moving takes, with a = max(|g|, q̇²) the acceleration of the fall
// or
//   of going round at the states' speeds (a pendulum without gravity has no bias, a slider next to none);
// * passive: the largest of springs', dampers', compensated gravity's and the fluid's (they may cancel), or 1e-6
// M_ii·a;
// * acceleration: MuJoCo's largest, a, or what bias, passive or actuation alone would give, divided by M_ii.
struct ModelComparison {
  double mass_matrix = 0.0;
  double bias = 0.0;
  double passive = 0.0;
  double acceleration = 0.0;
};

// The equations of motion are compared, without constraints, and not the steps: the engine is left with Euler's.
ModelComparison compare_with_mujoco(const Model& model, MujocoEngine& engine, int states, std::uint64_t seed);
ModelComparison compare_with_mujoco(const std::string& path, int states, std::uint64_t seed);

// A state to compare at: joints around the pose of the file, orientations anywhere, velocities of order one.
struct RandomState {
  std::vector<double> q, v, control, activation;
};
RandomState random_state(const Model& model, std::uint64_t seed, std::uint32_t index);

}  // namespace cgpo
