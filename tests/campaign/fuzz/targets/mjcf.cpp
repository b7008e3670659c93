// MJCF files that a grammar writes. MuJoCo's own compiler reads each first in a process of its own: where that dies,
// the fault is MuJoCo's, which is counted and passed over; what it survives, the loader must take or refuse.
#include <cmath>

#include "cgpo/physics/dynamics/step.hpp"

#include "fuzz.hpp"
#include "mjcf_grammar.hpp"
#include "mujoco_probe.hpp"

using namespace cgpo;

// What an error leaves behind inside MuJoCo stays there.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (std::getenv(fuzz::kProbeVariable) != nullptr) fuzz::run_mujoco_probe();
  return 0;
}

CGPO_FUZZ(input) {
  const std::string xml = fuzz::write_mjcf(input);
  static fuzz::MujocoProbe probe;
  if (!probe.survives(xml)) return;
  const auto model = fuzz::accepted([&] { return load_model_from_text(xml, "fuzz.xml"); });
  if (!model) return;
  fuzz::require(model->timestep > 0.0 && std::isfinite(model->timestep), "time goes on");
  for (const Link& link : model->links) {
    fuzz::require(link.mass > 0.0 && std::isfinite(link.mass), "what moves has a mass");
    fuzz::require(std::isfinite(link.inertia.isotropic), "inertia is finite");
    for (int i = 0; i < 3; ++i) fuzz::require(std::isfinite(link.centre[i]), "the centre of mass is finite");
  }
  for (const Joint& joint : model->joints) {
    fuzz::require(joint.link >= 0 && joint.link < static_cast<int>(model->links.size()), "a joint has a link");
  }
  for (const ContactPoint& point : model->contacts) {
    fuzz::require(point.link >= 0 && std::isfinite(point.radius), "a contact is of something that moves");
  }
  for (const GeomPair& pair : model->pairs) {
    fuzz::require(pair.first.link >= 0 || pair.second.link >= 0, "one of two that touch moves");
    fuzz::require(pair.first.type <= pair.second.type, "a pair is in order");
  }
  for (const double q : model->q0) fuzz::require(std::isfinite(q), "the pose of the file is finite");
  // What the numbers become is the robot's affair; that a step ends, and reads nothing that is not its own, is ours.
  const PhysicsState<double> start{model->q0, std::vector<double>(static_cast<std::size_t>(model->nv), 0.0),
                                   std::vector<double>(static_cast<std::size_t>(model->na), 0.0)};
  const std::vector<double> control(static_cast<std::size_t>(model->nu), 1.0);
  physics_step<double>(*model, suggest_parameters(*model), start, control);
}
