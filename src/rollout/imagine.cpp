#include "cgpo/rollout/imagine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

template <class Real>
class BlockImagination {
 public:
  BlockImagination(const Simulator<Real>& model, const Actor<Real>& actor, const TrajectoryBlock<Real>& real,
                   int window, Replay replay, TrajectoryBlock<Real>& block)
      : model_(model), actor_(actor), real_(real), window_(window), replay_(replay), block_(block) {}

  void run() {
    prepare();
    for (int t = 0; t < block_.simulated; ++t) {
      if (t % window_ == 0 || replay_ == Replay::kStates) begin_at(t);
      act(t);
      step(t);
      book(t);
    }
  }

 private:
  int lanes() const { return block_.lanes(); }
  int observations() const { return real_.observations.rows(); }
  bool ends_window(int t) const { return (t + 1) % window_ == 0 || t + 1 == block_.simulated; }

  void prepare() {
    block_.simulated = real_.simulated;
    block_.length = real_.length;
    block_.ended = real_.ended;
    block_.diverged = real_.diverged;
    std::fill(block_.sums.begin(), block_.sums.end(), 0.0);
    std::fill(block_.paper_sums.begin(), block_.paper_sums.end(), 0.0);
    block_.moments.clear();
    const int windows = (block_.horizon + window_ - 1) / window_;
    if (block_.end_inputs.columns() != block_.column(windows)) {
      block_.end_observations.resize(observations(), block_.column(windows));
      block_.end_inputs.resize(observations(), block_.column(windows));
      if (!model_.shows_state()) block_.end_states.resize(block_.states.rows(), block_.column(windows));
    }
    if (block_.units.rows() != actor_.policy.unit_count() || block_.units.columns() < block_.column(block_.horizon))
      block_.units.resize(actor_.policy.unit_count(), block_.column(block_.horizon));
    block_.memory.reward_paper.resize(static_cast<std::size_t>(lanes()));
    block_.memory.ended.resize(static_cast<std::size_t>(lanes()));
  }

  void begin_at(int t) {
    const std::ptrdiff_t column = block_.column(t);
    const RowStore<Real>& states = model_.shows_state() ? real_.observations : real_.states;
    copy_rows<Real>(states.view().from_column(column), block_.states.view().from_column(column), states.rows(),
                    lanes());
    copy_rows<Real>(real_.observations.view().from_column(column), block_.observations.view().from_column(column),
                    observations(), lanes());
    copy_rows<Real>(real_.inputs.view().from_column(column), block_.inputs.view().from_column(column), observations(),
                    lanes());
  }

  void act(int t) {
    const std::ptrdiff_t column = block_.column(t);
    const int actions = block_.actions.rows();
    copy_rows<Real>(real_.noise.view().from_column(column), block_.noise.view().from_column(column), actions, lanes());
    if (replay_ == Replay::kActions) {
      copy_rows<Real>(real_.actions.view().from_column(column), block_.actions.view().from_column(column), actions,
                      lanes());
      return;
    }
    actor_.policy.forward(actor_.parameters, std::as_const(block_.inputs).view().from_column(column),
                          std::as_const(block_.noise).view().from_column(column),
                          block_.units.view().from_column(column), block_.actions.view().from_column(column), lanes());
  }

  void step(int t) {
    const std::ptrdiff_t column = block_.column(t);
    const std::ptrdiff_t next = block_.column(t + 1);
    const Rows<Real> end = block_.end_observations.view().from_column(block_.column(t / window_));
    const Rows<Real> end_state =
        model_.shows_state() ? end : block_.end_states.view().from_column(block_.column(t / window_));
    const Rows<Real> state = ends_window(t) ? end_state : block_.states.view().from_column(next);
    const Rows<Real> observation = ends_window(t) ? end : block_.observations.view().from_column(next);
    model_.step({.state = std::as_const(block_.states).view().from_column(column),
                 .action = std::as_const(block_.actions).view().from_column(column),
                 .next_state = state,
                 .observation = observation,
                 .signals = block_.signals.view().from_column(column),
                 .reward_paper = block_.memory.reward_paper.data(),
                 .ended = block_.memory.ended.data(),
                 .inner = block_.inner.rows() > 0 ? block_.inner.view().from_column(column) : Rows<Real>(),
                 .environment = block_.environments.begin},
                lanes(), block_.memory.simulator);
    const Rows<Real> inputs = ends_window(t) ? block_.end_inputs.view().from_column(block_.column(t / window_))
                                             : block_.inputs.view().from_column(next);
    if (replay_ == Replay::kStates && ends_window(t))
      copy_rows<Real>(real_.observations.view().from_column(next), observation, observations(), lanes());
    actor_.normaliser.normalise(observation, inputs, lanes());
    for (int i = 0; i < observations(); ++i) {
      for (int lane = 0; lane < lanes(); ++lane) {
        if (!std::isfinite(observation.row(i)[lane])) discard(lane, observation, inputs);
      }
    }
  }

  // What is not a number would reach every lane of a product of matrices.
  void discard(int lane, Rows<Real> observation, Rows<Real> inputs) {
    block_.diverged[static_cast<std::size_t>(lane)] = 1;
    for (int i = 0; i < observations(); ++i) observation.row(i)[lane] = inputs.row(i)[lane] = Real(0);
  }

  void book(int t) {
    for (int k = 0; k < model_.signals(); ++k) {
      Real* const signal = block_.signals.view().row(k) + block_.column(t);
      for (int lane = 0; lane < lanes(); ++lane) {
        if (!std::isfinite(signal[lane])) block_.diverged[static_cast<std::size_t>(lane)] = 1;
        if (!counts(block_, model_.stops_at_end(k), t, lane)) signal[lane] = Real(0);
        block_.sums[block_.sum_index(k, lane)] += static_cast<double>(signal[lane]);
        if (k == 0) block_.paper_sums[static_cast<std::size_t>(lane)] += static_cast<double>(signal[lane]);
      }
    }
  }

  const Simulator<Real>& model_;
  const Actor<Real>& actor_;
  const TrajectoryBlock<Real>& real_;
  int window_;
  Replay replay_;
  TrajectoryBlock<Real>& block_;
};

}  // namespace

template <class Real>
void imagine(const Simulator<Real>& model, const Actor<Real>& actor, const Batch<Real>& real, int window, Replay replay,
             ThreadPool& pool, Batch<Real>& imagined) {
  check(real.blocks.size() == imagined.blocks.size() && real.horizon == imagined.horizon,
        "imagined episodes have the shape of the real ones");
  const int steps = window > 0 ? std::min(window, real.horizon) : real.horizon;
  pool.run(static_cast<int>(real.blocks.size()), [&](int b) {
    const auto i = static_cast<std::size_t>(b);
    BlockImagination<Real>(model, actor, real.blocks[i], steps, replay, imagined.blocks[i]).run();
  });
}

template <class Real>
PredictionErrors prediction_errors(const Batch<Real>& real, const Batch<Real>& imagined, int window,
                                   std::span<const double> unit) {
  const int steps = window > 0 ? std::min(window, real.horizon) : real.horizon;
  const auto h = static_cast<std::size_t>(steps);
  const std::size_t signals = static_cast<std::size_t>(real.signals);
  PredictionErrors errors{std::vector<double>(h, 0.0),
                          std::vector<std::vector<double>>(signals, std::vector<double>(h, 0.0)),
                          std::vector<double>(h, 0.0)};
  for (std::size_t b = 0; b < real.blocks.size(); ++b) {
    const TrajectoryBlock<Real>& truth = real.blocks[b];
    const TrajectoryBlock<Real>& block = imagined.blocks[b];
    for (int t = 0; t < block.simulated; ++t) {
      const auto j = static_cast<std::size_t>(t % steps);
      const bool last = (t + 1) % steps == 0 || t + 1 == block.simulated;
      const Rows<const Real> predicted = last ? block.end_observations.view().from_column(block.column(t / steps))
                                              : block.observations.view().from_column(block.column(t + 1));
      const Rows<const Real> observed = truth.observations.view().from_column(block.column(t + 1));
      for (int lane = 0; lane < block.lanes(); ++lane) {
        if (!counts(block, /*stops=*/true, t, lane)) continue;
        double sum = 0.0;
        for (std::size_t i = 0; i < unit.size(); ++i) {
          const auto row = static_cast<int>(i);
          const double error =
              (static_cast<double>(predicted.row(row)[lane]) - static_cast<double>(observed.row(row)[lane])) / unit[i];
          sum += error * error;
        }
        errors.state[j] += sum / static_cast<double>(unit.size());
        for (std::size_t k = 0; k < signals; ++k) {
          const std::ptrdiff_t column = block.column(t) + lane;
          const double error = static_cast<double>(block.signals.view().row(static_cast<int>(k))[column]) -
                               static_cast<double>(truth.signals.view().row(static_cast<int>(k))[column]);
          errors.signals[k][j] += error * error;
        }
        errors.samples[j] += 1.0;
      }
    }
  }
  for (std::size_t j = 0; j < h; ++j) {
    const auto root = [&](double& sum) {
      sum = errors.samples[j] > 0.0 ? std::sqrt(sum / errors.samples[j]) : std::numeric_limits<double>::quiet_NaN();
    };
    root(errors.state[j]);
    for (auto& signal : errors.signals) root(signal[j]);
  }
  return errors;
}

template void imagine(const Simulator<float>&, const Actor<float>&, const Batch<float>&, int, Replay, ThreadPool&,
                      Batch<float>&);
template void imagine(const Simulator<double>&, const Actor<double>&, const Batch<double>&, int, Replay, ThreadPool&,
                      Batch<double>&);
template PredictionErrors prediction_errors(const Batch<float>&, const Batch<float>&, int, std::span<const double>);
template PredictionErrors prediction_errors(const Batch<double>&, const Batch<double>&, int, std::span<const double>);

}  // namespace cgpo
