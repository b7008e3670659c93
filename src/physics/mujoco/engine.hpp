// MuJoCo's own simulation: the oracle for our dynamics, and an engine without gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cgpo/physics/dynamics/contact.hpp"
#include "cgpo/physics/model/model.hpp"

namespace cgpo {

class MujocoEngine {
 public:
  static MujocoEngine from_file(const std::string& path);
  static MujocoEngine from_text(const std::string& xml, const std::string& name = "model");
  MujocoEngine(MujocoEngine&&) noexcept;
  MujocoEngine& operator=(MujocoEngine&&) noexcept;
  ~MujocoEngine();

  int nq() const;
  int nv() const;
  int nu() const;
  double timestep() const;
  void set_timestep(double timestep);
  // From now on without the forces of the elements that Model::unsupported lists, so that the rest can be compared.
  void leave_out_unsupported();

  // Time and the solver's warm start begin anew, so that a step depends on nothing but state and control.
  void set_state(std::span<const double> q, std::span<const double> v);
  // false if MuJoCo found a bad state or control and went on with zeros; the state is then not to be used.
  bool step(std::span<const double> control, int substeps = 1);
  std::span<const double> q() const;
  std::span<const double> v() const;

  // ∂(next state)/∂(state, control) by MuJoCo's own finite differences; the matrices are of size nv, not nq.
  struct Derivatives {
    std::vector<double> state;    // 2nv × 2nv
    std::vector<double> control;  // 2nv × nu
  };
  const Derivatives& transition_derivatives();

  // All quantities at the current state, without a step.
  void forward(std::span<const double> control);
  std::vector<double> mass_matrix() const;  // nv × nv
  std::span<const double> bias() const;
  std::span<const double> passive() const;
  std::span<const double> actuation() const;
  std::span<const double> smooth_acceleration() const;
  int contact_count() const;
  std::vector<double> contact_depths() const;
  std::vector<ContactForce> contact_forces() const;  // on the moving body of each contact
  Vec3<double> body_position(int body) const;

 private:
  struct Parts;
  explicit MujocoEngine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Largest difference over all states, relative to the largest entry of MuJoCo's array over all states; if that is next
// to nothing, as the bias of a pendulum without gravity is, to a millionth of what moving the bodies takes.
struct ModelComparison {
  double mass_matrix = 0.0;
  double bias = 0.0;
  double passive = 0.0;
  double acceleration = 0.0;
};

ModelComparison compare_with_mujoco(const Model& model, MujocoEngine& engine, int states, std::uint64_t seed);
ModelComparison compare_with_mujoco(const std::string& path, int states, std::uint64_t seed);

// A state to compare at: joints around the pose of the file, orientations anywhere, velocities of order one.
struct RandomState {
  std::vector<double> q, v, control;
};
RandomState random_state(const Model& model, std::uint64_t seed, std::uint32_t index);

}  // namespace cgpo
