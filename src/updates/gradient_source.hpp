// Where CGPO's gradients come from: through the simulator, from scores alone, or through a learned model.
//
// All of CGPO but this is the same whatever the source: see cgpo.cpp.
#pragma once

#include <memory>

#include "cgpo/updates/actor_critic.hpp"

namespace cgpo {

class PolicyGradientSource {
 public:
  virtual ~PolicyGradientSource() = default;

  // The batch of an iteration is there: what can be learned from it before gradients are taken.
  virtual void learn(const ActorCritic<float>&, int /*iteration*/, IterationReport&) {}
  virtual bool uses_critics() const = 0;  // to close windows
  // dL/ds along the batch, for critic.sobolev; nothing: there are none.
  virtual SlopeSource<float> slopes(const ActorCritic<float>&) { return {}; }
  // ∇J of every signal, for the batch that learn() saw.
  virtual const GradientEstimate& estimate(const ActorCritic<float>& parts) = 0;
  // Of the last estimate, one a signal: how much of it is due to scores. Empty: no such thing.
  virtual std::vector<double> mixture() const { return {}; }

  virtual void save(Tensors&) const {}
  virtual void load(const Tensors&) {}
  // As in Algorithm.
  virtual std::shared_ptr<const Tensors> take_new_data() { return nullptr; }
  virtual int first_data_needed() const { return 0; }
  virtual void load_data(const Tensors&) {}
};

// `shac`, `bptt` and `zobg`, as the settings say. Throws UserError if the task has no derivatives and they are needed.
std::unique_ptr<PolicyGradientSource> make_gradient_source(const ActorCritic<float>& parts,
                                                           const std::string& algorithm);

}  // namespace cgpo
