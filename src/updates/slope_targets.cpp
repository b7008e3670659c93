#include "cgpo/updates/slope_targets.hpp"

#include "cgpo/nn/dense.hpp"

namespace cgpo {

template <class Real>
SlopeTargets<Real>::SlopeTargets(const Simulator<Real>& simulator, int batch) : simulator_(simulator) {
  const TaskSpec& spec = simulator.spec();
  state_.resize(spec.states, batch);
  target_.resize(spec.states, batch);
  raw_.resize(spec.observations, batch);
  slope_state_.resize(spec.states, batch);
  pushed_.resize(spec.observations, batch);
}

template <class Real>
void SlopeTargets<Real>::set(const Batch<Real>& batch, const std::vector<RowStore<Real>>& slopes, int signal,
                             std::span<const std::uint32_t> chosen, const Normaliser<Real>& normaliser, double weight) {
  const int states = simulator_.spec().states;
  const std::ptrdiff_t samples = batch.sample(batch.horizon, 0);
  states_.resize(states + 1, samples);
  targets_.resize(states + 1, samples);
  for (std::size_t b = 0; b < batch.blocks.size(); ++b) {
    const auto& block = batch.blocks[b];
    for (int t = 0; t < block.simulated; ++t) {
      const std::ptrdiff_t begin = batch.sample(t, block.environments.begin);
      const std::ptrdiff_t column = block.column(t);
      states_.write(begin, block.states.view().from_column(column), block.lanes(), Real(0));
      targets_.write(begin, slopes[b].view().from_row(signal * states).from_column(column), block.lanes(), Real(0));
    }
  }
  inverse_square_.assign(static_cast<std::size_t>(states), 0.0);
  for (const std::uint32_t sample : chosen) {
    for (int i = 0; i < states; ++i) {
      const auto value =
          static_cast<double>(targets_.data()[static_cast<std::ptrdiff_t>(sample) * targets_.width() + i]);
      inverse_square_[static_cast<std::size_t>(i)] += value * value;
    }
  }
  for (double& sum : inverse_square_) sum = sum > 0.0 ? static_cast<double>(chosen.size()) / sum : 0.0;
  inverse_std_.clear();
  for (const double std : normaliser.scale().std) inverse_std_.push_back(1.0 / std);
  weight_ = weight;
}

template <class Real>
double SlopeTargets<Real>::evaluate(Rows<const Real> slope, std::span<const std::uint32_t> samples, double scale,
                                    Rows<Real> direction) {
  const TaskSpec& spec = simulator_.spec();
  const int count = static_cast<int>(samples.size());
  dense::gather<Real>(states_.data(), states_.width(), samples.data(), state_.view(), spec.states, count);
  dense::gather<Real>(targets_.data(), targets_.width(), samples.data(), target_.view(), spec.states, count);
  // ∂V/∂observation, then ∂V/∂state.
  const auto factor = [&](int o) { return static_cast<Real>(scale * inverse_std_[static_cast<std::size_t>(o)]); };
  for (int o = 0; o < spec.observations; ++o) {
    for (int j = 0; j < count; ++j) raw_.view().row(o)[j] = slope.row(o)[j] * factor(o);
  }
  simulator_.observe_pull_back(state_.view(), raw_.view(), slope_state_.view(), count, scratch_);
  // The error, and back the same way.
  double loss = 0.0;
  for (int i = 0; i < spec.states; ++i) {
    const double share =
        weight_ * inverse_square_[static_cast<std::size_t>(i)] / (static_cast<double>(spec.states) * count);
    const auto twice = static_cast<Real>(2.0 * share);
    Real* const row = slope_state_.view().row(i);
    const Real* const target = target_.view().row(i);
    for (int j = 0; j < count; ++j) {
      const Real error = row[j] - target[j];
      loss += share * static_cast<double>(error) * static_cast<double>(error);
      row[j] = twice * error;
    }
  }
  simulator_.observe_push(state_.view(), slope_state_.view(), pushed_.view(), count, scratch_);
  for (int o = 0; o < spec.observations; ++o) {
    for (int j = 0; j < count; ++j) direction.row(o)[j] = pushed_.view().row(o)[j] * factor(o);
  }
  return loss;
}

template class SlopeTargets<float>;
template class SlopeTargets<double>;

}  // namespace cgpo
