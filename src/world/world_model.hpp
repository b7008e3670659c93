// A learned model of a task: F(s, a) → (s′ − s, r, c_1 … c_m), s being what the policy observes.
//
// An ensemble of E networks; a prediction is their mean, and how much they differ is its spread. Inputs and targets are
// normalised by the mean and standard deviation of all data so far; when these change, first and last layers are
// rewritten so that no prediction does. Each network is fitted by Adam to the mean squared error of normalised targets,
// on minibatches of its own drawn from all transitions that are kept, and goes back to the best weights that the
// held-out episodes saw.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgpo/base/thread_pool.hpp"
#include "cgpo/nn/adam.hpp"
#include "cgpo/nn/mlp.hpp"
#include "cgpo/nn/normaliser.hpp"
#include "cgpo/nn/row_store.hpp"
#include "cgpo/world/transitions.hpp"

namespace cgpo {

enum class WorldStates : std::uint8_t { kReal, kModel };  // where a gradient takes the model's derivatives

// Keys world.* of a configuration.
struct WorldSettings {
  WorldStates states = WorldStates::kReal;
  bool correction = false;  // gradients: one step at a time, and by scores what the model missed
  std::vector<int> hidden = {128, 128};
  double first_scale = 3.0;     // factor on the first layer's first weights: above 1, sharp bends are learned sooner
  int members = 1;              // E
  int minibatches = 512;        // steps of Adam an iteration and member, at most
  int first_fit = 4;            // times as many in iteration 0, when nothing is known yet
  int batch = 512;              // transitions a minibatch
  double learning_rate = 1e-2;  // at the beginning of a fit; it falls to a fiftieth, along a cosine
  double held_out = 0.05;       // share of the episodes that no network is fitted to
  int check_every = 64;         // minibatches between two looks at the held-out error
  int patience = 8;             // looks without a better error after which a fit ends
  int buffer = 1 << 20;         // transitions that are kept
};

// Root mean square errors of one-step predictions in units of each target's standard deviation: 1 is no better than
// the mean.
struct WorldErrors {
  double state = 0.0;           // over all observations
  std::vector<double> signals;  // reward, then each cost
  double spread = 0.0;          // standard deviation between the members, in the same units, over all outputs
  int samples = 0;              // held-out transitions behind the numbers; 0: there were none
};

struct WorldFit {
  WorldErrors held_out;
  double training_loss = 0.0;  // mean squared error of the last minibatches, normalised
  int minibatches = 0;         // that were taken, mean over the members
};

template <class Real>
class WorldModel {
 public:
  WorldModel(const TransitionShape& shape, const WorldSettings& settings);

  void initialise(std::uint64_t seed);
  const TransitionShape& shape() const { return shape_; }
  const Mlp<Real>& mlp() const { return mlp_; }
  int members() const { return static_cast<int>(members_.size()); }
  std::span<const Real> parameters(int member) const { return members_[static_cast<std::size_t>(member)].parameters; }
  std::span<Real> parameters(int member) { return members_[static_cast<std::size_t>(member)].parameters; }
  const InputScale& input_scale() const { return input_scale_; }
  const InputScale& output_scale() const { return output_scale_; }

  // Takes new data into the statistics; predictions stay as they are. Rows as in TransitionStore.
  void observe(std::span<const float> rows);
  // Fits every member. Random numbers are those of (seed, iteration, member); members go side by side.
  WorldFit fit(const TransitionStore& training, const TransitionStore& held_out, std::uint64_t seed, int iteration,
               ThreadPool& pool);
  // On the newest held-out transitions.
  WorldErrors errors(const TransitionStore& held_out);

  void save(Tensors& tensors, const std::string& prefix) const;
  void load(const Tensors& tensors, const std::string& prefix);

 private:
  struct Member {
    AlignedVector<Real> parameters;
    Adam<Real> adam;
    AlignedVector<Real> best;
    RowStore<Real> values;  // [width × columns], a minibatch as it was stored, then normalised
    RowStore<Real> units, deltas;
    AlignedVector<double> gradient;
    std::vector<std::uint32_t> index;
  };
  struct MemberFit {
    double loss = 0.0;
    int minibatches = 0;
  };

  void refresh_scales();
  MemberFit fit_member(std::size_t member, const TransitionStore& training, const TransitionStore& held_out,
                       std::uint64_t seed, int iteration);
  // Transitions `index` of a store, normalised, in member.values.
  void load_columns(const TransitionStore& store, Member& member, int count) const;
  // The error of a minibatch and, in member.deltas, its adjoints.
  double minibatch_loss(Member& member, int count) const;
  double held_out_loss(const TransitionStore& held_out, Member& member) const;

  TransitionShape shape_;
  WorldSettings settings_;
  Mlp<Real> mlp_;
  std::vector<Member> members_;
  Moments moments_;  // of whole rows: inputs, then targets
  InputScale input_scale_, output_scale_;
};

extern template class WorldModel<float>;
extern template class WorldModel<double>;

}  // namespace cgpo
