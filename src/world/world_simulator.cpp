#include "cgpo/world/world_simulator.hpp"

#include <algorithm>

namespace cgpo {
namespace {

// What a model of a task is to those who ask for its sizes: states are observations, and nothing is known of starts.
TaskSpec observed(TaskSpec spec) {
  spec.states = spec.observations;
  spec.differentiable = true;
  spec.lattice_starts = false;
  spec.substeps = 1;
  return spec;
}

}  // namespace

TransitionShape transition_shape(const Task& task, const std::vector<int>& costs) {
  return {task.spec().observations, task.spec().actions, 1 + static_cast<int>(costs.size())};
}

template <class Real>
WorldSimulator<Real>::WorldSimulator(const Task& task, const std::vector<int>& costs, const WorldModel<Real>& model)
    : Simulator<Real>(observed(task.spec()), costs), model_(model) {}

template <class Real>
std::int64_t WorldSimulator<Real>::step_operations() const {
  return std::int64_t{2} * model_.members() * model_.mlp().parameter_count();
}

template <class Real>
std::int64_t WorldSimulator<Real>::pull_back_operations() const {
  return this->signals() * step_operations();
}

template <class Real>
void WorldSimulator<Real>::normalise(Rows<const Real> state, Rows<const Real> action, Rows<Real> x, int lanes) const {
  const InputScale& scale = model_.input_scale();
  const int observations = model_.shape().observations;
  for (int i = 0; i < model_.shape().inputs(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Real* const from = i < observations ? state.row(i) : action.row(i - observations);
    const auto mean = static_cast<Real>(scale.mean[at]);
    const auto inverse = static_cast<Real>(1.0 / scale.std[at]);
    Real* const to = x.row(i);
    for (int lane = 0; lane < lanes; ++lane) to[lane] = (from[lane] - mean) * inverse;
  }
}

template <class Real>
void WorldSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  const TransitionShape& shape = model_.shape();
  const Mlp<Real>& mlp = model_.mlp();
  const bool keeps = batch.inner.data != nullptr;
  ScratchRows<Real> memory(scratch, shape.inputs() + shape.outputs() + (keeps ? 0 : inner_rows()), lanes);
  const Rows<Real> x = memory.take(shape.inputs());
  const Rows<Real> y = memory.take(shape.outputs());
  const Rows<Real> units = keeps ? batch.inner : memory.take(inner_rows());
  normalise(batch.state, batch.action, x, lanes);
  const Real share = Real(1) / static_cast<Real>(model_.members());
  for (int e = 0; e < model_.members(); ++e) {
    const Rows<Real> own = units.from_row(e * mlp.unit_count());
    mlp.forward(model_.parameters(e), x, own, lanes);
    for (int o = 0; o < shape.outputs(); ++o) {
      const Real* const from = own.row(mlp.output_offset() + o);
      Real* const to = y.row(o);
      for (int lane = 0; lane < lanes; ++lane) to[lane] = (e == 0 ? Real(0) : to[lane]) + share * from[lane];
    }
  }
  const InputScale& scale = model_.output_scale();
  for (int o = 0; o < shape.outputs(); ++o) {
    const auto mean = static_cast<Real>(scale.mean[static_cast<std::size_t>(o)]);
    const auto std = static_cast<Real>(scale.std[static_cast<std::size_t>(o)]);
    const Real* const from = y.row(o);
    if (o < shape.observations) {
      const Real* const before = batch.state.row(o);
      Real* const state = batch.next_state.row(o);
      for (int lane = 0; lane < lanes; ++lane) state[lane] = before[lane] + (mean + std * from[lane]);
      if (batch.observation.row(o) != state) std::copy_n(state, lanes, batch.observation.row(o));
    } else {
      Real* const signal = batch.signals.row(o - shape.observations);
      for (int lane = 0; lane < lanes; ++lane) signal[lane] = mean + std * from[lane];
    }
  }
  std::copy_n(batch.signals.row(0), lanes, batch.reward_paper);
  std::fill_n(batch.ended, lanes, Real(0));
}

template <class Real>
void WorldSimulator<Real>::pull_back(const AdjointBatch<Real>& batch, int lanes,
                                     SimulatorScratch<Real>& scratch) const {
  const TransitionShape& shape = model_.shape();
  const Mlp<Real>& mlp = model_.mlp();
  const int observations = shape.observations;
  const bool kept = batch.inner.data != nullptr;
  ScratchRows<Real> memory(scratch, 2 * shape.inputs() + mlp.unit_count() + (kept ? 0 : inner_rows()), lanes);
  const Rows<Real> x = memory.take(shape.inputs());
  const Rows<Real> dx = memory.take(shape.inputs());
  const Rows<Real> deltas = memory.take(mlp.unit_count());
  Rows<const Real> units = batch.inner;
  if (!kept) {
    const Rows<Real> again = memory.take(inner_rows());
    normalise(batch.state, batch.action, x, lanes);
    for (int e = 0; e < model_.members(); ++e)
      mlp.forward(model_.parameters(e), x, again.from_row(e * mlp.unit_count()), lanes);
    units = again;
  }
  const InputScale& in = model_.input_scale();
  const InputScale& out = model_.output_scale();
  const Real share = Real(1) / static_cast<Real>(model_.members());
  for (int k = 0; k < this->signals(); ++k) {
    // Adjoint of the next state, which is observed as it is.
    const Rows<Real> state = batch.state_adjoint.from_row(k * observations);
    for (int i = 0; i < observations; ++i) {
      const Real* const next = batch.next_state_adjoint.row(k * observations + i);
      const Real* const seen = batch.observation_adjoint.row(k * observations + i);
      for (int lane = 0; lane < lanes; ++lane) state.row(i)[lane] = next[lane] + seen[lane];
    }
    for (int e = 0; e < model_.members(); ++e) {
      // backward() leaves the seed's rows as they are, but a member's hidden rows are overwritten by the next.
      for (int o = 0; o < shape.outputs(); ++o) {
        Real* const dy = deltas.row(mlp.output_offset() + o);
        const Real scale = share * static_cast<Real>(out.std[static_cast<std::size_t>(o)]);
        if (o < observations) {
          for (int lane = 0; lane < lanes; ++lane) dy[lane] = scale * state.row(o)[lane];
        } else if (o - observations == k) {
          for (int lane = 0; lane < lanes; ++lane) dy[lane] = scale * batch.weight.row(k)[lane];
        } else {
          std::fill_n(dy, lanes, Real(0));
        }
      }
      mlp.backward(model_.parameters(e), units.from_row(e * mlp.unit_count()), deltas, lanes,
                   {.rows = dx, .add = e > 0});
    }
    for (int i = 0; i < shape.inputs(); ++i) {
      const auto inverse = static_cast<Real>(1.0 / in.std[static_cast<std::size_t>(i)]);
      const Real* const from = dx.row(i);
      if (i < observations) {
        for (int lane = 0; lane < lanes; ++lane) state.row(i)[lane] += inverse * from[lane];
      } else {
        Real* const action = batch.action_adjoint.row(k * shape.actions + i - observations);
        for (int lane = 0; lane < lanes; ++lane) action[lane] = inverse * from[lane];
      }
    }
  }
}

template class WorldSimulator<float>;
template class WorldSimulator<double>;

}  // namespace cgpo
