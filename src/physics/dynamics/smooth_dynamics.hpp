// The equations of motion without contact and limits, in MuJoCo's coordinates: M a = actuation + passive − bias.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "cgpo/physics/dynamics/actuation.hpp"
#include "cgpo/physics/dynamics/bias.hpp"
#include "cgpo/physics/dynamics/inertia.hpp"
#include "cgpo/physics/dynamics/passive.hpp"
#include "cgpo/physics/dynamics/resistance.hpp"
#include "cgpo/physics/dynamics/tendon_forces.hpp"

namespace cgpo {

template <class S>
struct SmoothDynamics {
  SymmetricMatrix<S> mass_matrix;  // qM
  std::vector<S> bias;             // qfrc_bias
  std::vector<S> passive;          // qfrc_passive
  std::vector<S> actuation;        // qfrc_actuator
  std::vector<S> acceleration;     // qacc_smooth
  std::vector<S> activation_rate;  // act_dot
};

template <class S>
SmoothDynamics<S> smooth_dynamics(const Model& model, const PhysicsState<S>& state, std::span<const S> control,
                                  DofAxes axes = DofAxes::kMujoco) {
  const std::span<const S> q(state.q);
  const Kinematics<S> kinematics = forward_kinematics(model, q, std::span<const S>(state.v), axes);
  std::vector<S> bias = bias_forces(model, kinematics);
  std::vector<Wrench<S>> wrenches(model.links.size());
  add_fluid_forces(model, kinematics, wrenches);
  std::vector<S> passive = project_to_joints(model, kinematics, std::move(wrenches));
  add_joint_springs(model, kinematics, q, axes, passive);
  add_tendon_springs(model, kinematics, q, passive);
  std::vector<S> actuation(model.nv, S(0.0));
  add_actuator_forces(model, kinematics, state, control, model.timestep, axes, actuation);
  add_gravity_compensation(model, kinematics, passive, actuation);
  clip_joint_forces(model, actuation);
  std::vector<S> rates(state.activation.size(), S(0.0));
  for (int i = 0; i < model.nu; ++i) {
    const Actuator& actuator = model.actuators[i];
    const int index = actuator.activation.index;
    if (index >= 0) rates[index] = activation_rate(actuator, state.activation[index], control[i]);
  }
  SymmetricMatrix<S> mass_matrix = joint_inertia(model, kinematics);
  std::vector<S> along_tendons(model.nv, S(0.0));
  add_tendon_inertia(model, kinematics, q, along_tendons, mass_matrix);
  std::vector<S> rhs;
  for (int i = 0; i < model.nv; ++i) bias[i] = sparse::sub(bias[i], along_tendons[i]);
  for (int i = 0; i < model.nv; ++i) rhs.push_back(sparse::sub(sparse::add(actuation[i], passive[i]), bias[i]));
  std::vector<S> acceleration = solve_symmetric(mass_matrix, std::span<const S>(rhs));
  return {std::move(mass_matrix), std::move(bias),         std::move(passive),
          std::move(actuation),   std::move(acceleration), std::move(rates)};
}

}  // namespace cgpo
