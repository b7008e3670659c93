// The machine that all on-policy algorithms share: episodes, advantages of reward and costs, passes of Adam over
// minibatches, critics. An algorithm is a rule, a small struct that says what the policy's update is:
//
//   explicit Rule(const OnPolicy& machine);
//   void update(OnPolicy& machine, IterationReport& report);
//   void save(Tensors& tensors) const;   void load(const Tensors& tensors);      // its own state
//
// and OnPolicyAlgorithm<Rule> makes an Algorithm of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgpo/nn/adam.hpp"
#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/updates/monitor.hpp"
#include "cgpo/updates/policy_samples.hpp"

namespace cgpo {

class OnPolicy {
 public:
  explicit OnPolicy(const AlgorithmContext& context);

  const Settings& settings() const { return parts.context.settings; }
  ThreadPool& pool() const { return *parts.context.pool; }
  double discount() const { return settings().finite_horizon ? 1.0 : settings().discount; }
  int iteration() const { return iteration_; }

  // Samples N episodes under π_k; the report has their J. They can be learned from if usable() says so, which else
  // leaves its reason in the report.
  IterationReport collect();
  bool usable(IterationReport& report) const;

  // V and A of every signal by the critics as they are, and from them `samples`.
  void estimate_advantages();
  // By how much a sum over episodes changes with a mean of A over samples: the mean number of steps of an episode.
  double steps_per_episode() const;

  // Passes of Adam that make the objective grow, until the policy has moved by `furthest` from the one that acted: KL
  // is the mean over the minibatch at hand, before its step. `stage` tells apart the shuffles of several ascents of an
  // iteration.
  struct Ascent {
    double furthest;  // KL(π_k‖π_θ)
    int stage = 0;
    std::optional<Anchor> anchor = {};
  };
  void ascend(const Objective& objective, Adam<float>& adam, const Ascent& ascent, IterationReport& report);
  // As far as update.kl, with the machine's own Adam.
  void ascend(const Objective& objective, IterationReport& report) {
    ascend(objective, adam, {.furthest = settings().update.kl}, report);
  }

  // Fits every critic to A + V of this batch.
  void fit_critics(IterationReport& report);
  // Merges the normaliser; on to the next iteration.
  void finish();

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

  // What the update compares with the limits: J_C of the policy with noise or deployed, whichever is larger, and the
  // margin that keeps it with confidence.
  std::vector<double> costs_to_keep() const { return monitor.costs_to_keep(); }

  ActorCritic<float> parts;
  PolicyMonitor monitor;
  PolicySamples samples;
  Adam<float> adam;  // of the policy

 private:
  void scale_advantages();

  std::vector<SignalAdvantages> advantages_;                // [1+m]
  std::vector<std::vector<AlignedVector<float>>> values_;   // [1+m][block], V at every column
  std::vector<CriticWorkspace<float>> block_memory_;        // one a block
  std::vector<std::vector<AlignedVector<float>>> targets_;  // [1+m][block], A + V
  std::vector<std::uint32_t> order_;                        // of a pass
  std::vector<double> gradient_;
  int iteration_ = 0;
};

template <class Rule>
class OnPolicyAlgorithm final : public Algorithm {
 public:
  explicit OnPolicyAlgorithm(const AlgorithmContext& context) : machine_(context), rule_(machine_) {}

  IterationReport iterate() override {
    IterationReport report = machine_.collect();
    if (machine_.usable(report)) {
      machine_.estimate_advantages();
      rule_.update(machine_, report);
      machine_.parts.restore_if_not_finite(machine_.samples.behaviour(), report);
      machine_.fit_critics(report);
    }
    machine_.finish();
    return report;
  }
  int iteration() const override { return machine_.iteration(); }
  void save(Tensors& tensors) const override {
    machine_.save(tensors);
    rule_.save(tensors);
  }
  void load(const Tensors& tensors) override {
    machine_.load(tensors);
    rule_.load(tensors);
  }
  void warm_start(const Tensors& tensors) override { machine_.parts.load(tensors); }

 private:
  OnPolicy machine_;
  Rule rule_;
};

}  // namespace cgpo
