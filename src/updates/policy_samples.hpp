// The steps of a batch as a policy's update sees them: what was observed, what was done, and how good that was.
//
// With u the action before squashing, ρ = π_θ(u|x) / π_k(u|x) of each step, π_k being the policy that acted. The
// squashing cancels in ρ and in every KL divergence, so all of it is done before squashing.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cgpo/nn/row_store.hpp"
#include "cgpo/nn/sample_table.hpp"
#include "cgpo/rollout/collect.hpp"

namespace cgpo {

// Some samples, as an objective sees them.
struct SurrogateSamples {
  int count = 0;
  const float* ratio = nullptr;  // ρ
  Rows<const float> advantages;  // [1+m × count], scaled; 0 where the signal has stopped
};

// Adds up the samples' objective, which is to grow, and fills slopes with its ∂/∂log ρ of each.
using Objective = std::function<double(const SurrogateSamples& samples, float* slopes)>;

// Advantages of one signal: at the columns of every block, and how a policy's update is to see them, (A − mean) /
// scale.
struct SignalAdvantages {
  std::vector<AlignedVector<float>> blocks;
  bool stops = true;  // whether the signal stops when an episode ends
  double mean = 0.0;
  double scale = 1.0;
};

// A policy that the new one is drawn to: the objective less weight · KL(π_θ‖π_anchor). Where that divergence of a
// sample is above `reach`, the sample counts for nothing, neither in the objective nor in the divergence.
struct Anchor {
  std::span<const float> parameters;
  double weight = 1.0;
  double reach = std::numeric_limits<double>::infinity();
};

class PolicySamples {
 public:
  PolicySamples(const Policy<float>& policy, int signals);

  // Takes over every step that counts for some signal, done by `behaviour`.
  void take(const Batch<float>& batch, const Actor<float>& behaviour, std::span<const SignalAdvantages> advantages,
            ThreadPool& pool);

  int count() const { return static_cast<int>(chosen_.size()); }
  std::span<const std::uint32_t> all() const { return chosen_; }  // names of the samples
  Rows<const float> inputs_of(std::span<const std::uint32_t> samples, RowStore<float>& memory) const;
  double scale(int signal) const { return scales_[static_cast<std::size_t>(signal)]; }  // that divided its advantages
  const std::vector<float>& behaviour() const { return behaviour_; }                    // θ_k

  struct Slope {
    double objective = 0.0;  // means over the samples; the anchor's and the entropy's part are not in it
    double kl = 0.0;         // KL(π_k‖π_θ)
    double anchor_kl = 0.0;  // KL(π_θ‖π_anchor), 0 of samples out of reach
  };
  // Gradient, over these samples, of the mean objective + entropy · H(π_θ) − anchor; reach is no function of θ in it.
  Slope gradient(std::span<const float> parameters, std::span<const std::uint32_t> samples, const Objective& objective,
                 double entropy, const std::optional<Anchor>& anchor, ThreadPool& pool, std::span<double> gradient);

  struct Surrogates {
    std::vector<double> means;  // [1+m]: L = E[ρ A], A as scaled
    double kl = 0.0;            // KL(π_k‖π_θ)
  };
  Surrogates evaluate(std::span<const float> parameters, ThreadPool& pool);

 private:
  struct Workspace {  // of a slot: what one task at a time works with
    RowStore<float> rows, units, deltas, anchor_units, noise;
    AlignedVector<float> ratio, slopes, log_ratio, near;
    std::vector<double> gradient, means;
    double objective = 0.0, kl = 0.0, anchor_kl = 0.0;
  };
  // Calls work(workspace, count) for all pieces of `samples`, gathered; slot s takes pieces s, s + kSlots, …
  template <class Work>
  void for_pieces(std::span<const std::uint32_t> samples, ThreadPool& pool, Work&& work);
  void find_ratios(std::span<const float> parameters, int count, Workspace& w) const;
  int leave_out_far(std::span<const float> parameters, const Anchor& anchor, int count, Workspace& w) const;
  void seed_anchor(std::span<const float> parameters, const Anchor& anchor, int count, int near, Workspace& w) const;
  int slots_used(std::size_t samples) const;

  Rows<const float> inputs(const Workspace& w) const { return w.rows.view(); }
  Rows<const float> chosen_actions(const Workspace& w) const { return w.rows.view().from_row(policy_.observations()); }
  Rows<const float> old_means(const Workspace& w) const {
    return w.rows.view().from_row(policy_.observations() + policy_.actions());
  }
  Rows<const float> advantages(const Workspace& w) const {
    return w.rows.view().from_row(policy_.observations() + 2 * policy_.actions());
  }
  std::span<const float> weights(std::span<const float> parameters) const {
    return parameters.first(static_cast<std::size_t>(policy_.mlp().parameter_count()));
  }
  float log_std(std::span<const float> parameters, int action) const {
    return parameters[static_cast<std::size_t>(policy_.log_std_offset()) + static_cast<std::size_t>(action)];
  }

  const Policy<float>& policy_;
  int signals_;
  SampleTable<float> table_;  // [x, u, μ_k, advantages]; sample t·N + environment
  std::vector<std::uint32_t> chosen_;
  std::vector<float> behaviour_;
  std::vector<double> scales_;
  std::vector<Workspace> slots_;
};

}  // namespace cgpo
