// What a force meets in the pose of the file, where MuJoCo's own numbers say too little: they leave out what equalities
// tie to a joint, and have one mean for the three axes of a ball joint.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cgpo/physics/dynamics/equality.hpp"
#include "cgpo/physics/dynamics/tendon_forces.hpp"
#include "cgpo/physics/model/loader.hpp"

namespace cgpo {
namespace {

// The inertia matrix, with that of the springs that equalities are.
SymmetricMatrix<double> tied_inertia(const Model& model, const Kinematics<double>& kinematics) {
  const std::span<const double> q(model.q0);
  SymmetricMatrix<double> matrix = joint_inertia(model, kinematics);
  std::vector<double> unused(model.nv, 0.0);
  add_tendon_inertia(model, kinematics, q, unused, matrix);
  add_equalities(model, suggest_parameters(model), kinematics, q, unused, matrix);
  return matrix;
}

}  // namespace

void find_mobilities(Model& model) {
  const bool tied = !model.equalities.empty();
  const auto has_range = [](const Joint& joint) { return joint.largest_angle > 0.0; };
  if (!tied && std::none_of(model.joints.begin(), model.joints.end(), has_range)) return;
  const std::vector<double> still(model.nv, 0.0);
  const auto kinematics = forward_kinematics<double>(model, model.q0, still, DofAxes::kMujoco);
  const SymmetricFactor<double> factor = factor_values(tied_inertia(model, kinematics));
  const auto answer = [&](int dof) {
    std::vector<double> torque(model.nv, 0.0);
    torque[dof] = 1.0;
    return solve_values(factor, torque);
  };
  const auto set_inertia = [](double& inertia, double mobility) {
    if (std::isfinite(mobility) && mobility > 0.0) inertia = inertia_of(mobility);
  };
  for (Joint& joint : model.joints) {
    for (int k = 0; has_range(joint) && k < 3; ++k) {
      const std::vector<double> turned = answer(joint.v + k);
      for (int i = 0; i < 3; ++i) {
        const double mobility = turned[joint.v + i];
        joint.ball_mobility(i, k) = std::isfinite(mobility) ? mobility : i == k ? 1.0 / joint.inertia : 0.0;
      }
    }
    const bool is_scalar = joint.type >= JointType::kSlide;
    if (tied && is_scalar && (joint.limited || joint.frictionloss > 0.0)) {
      set_inertia(joint.inertia, answer(joint.v)[joint.v]);
    }
  }
  for (Tendon& tendon : model.tendons) {
    if (!tied || (!tendon.limited && tendon.frictionloss == 0.0)) continue;
    const auto moment = tendon_state(model, kinematics, std::span<const double>(model.q0), tendon).moment;
    const std::vector<double> moved = solve_values(factor, moment);
    set_inertia(tendon.inertia, std::inner_product(moment.begin(), moment.end(), moved.begin(), 0.0));
  }
}

}  // namespace cgpo
