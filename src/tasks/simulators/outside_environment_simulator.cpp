#include "cgpo/base/error.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {
namespace {

std::size_t values_of(int lanes, int each) { return static_cast<std::size_t>(lanes) * static_cast<std::size_t>(each); }

}  // namespace

template <class Real>
OutsideEnvironmentSimulator<Real>::OutsideEnvironmentSimulator(const TaskSpec& spec, std::vector<int> costs,
                                                               std::shared_ptr<OutsideEnvironments> environments)
    : Simulator<Real>(spec, std::move(costs)), environments_(std::move(environments)) {}

template <class Real>
void OutsideEnvironmentSimulator<Real>::start(const EpisodeStarts& starts, Rows<Real> state, int lanes,
                                              SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->spec();
  std::vector<std::uint64_t> seeds;
  for (int lane = 0; lane < lanes; ++lane) {
    RandomStream random(starts.seed, starts.purpose, starts.iteration,
                        starts.first_stream + static_cast<std::uint32_t>((starts.environment + lane) * starts.every));
    seeds.push_back(random.bits64());
  }
  scratch.start.resize(values_of(lanes, spec.observations));
  environments_->reset(starts.environment, seeds, scratch.start);
  for (int lane = 0; lane < lanes; ++lane) {
    const std::span<const double> own =
        std::span<const double>(scratch.start)
            .subspan(values_of(lane, spec.observations), static_cast<std::size_t>(spec.observations));
    check_start(spec, own);
    for (int i = 0; i < spec.observations; ++i)
      state.row(i)[lane] = static_cast<Real>(own[static_cast<std::size_t>(i)]);
  }
}

template <class Real>
void OutsideEnvironmentSimulator<Real>::step(const StepBatch<Real>& batch, int lanes,
                                             SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->spec();
  const int wide = spec.observations + static_cast<int>(spec.costs.size()) + 2;
  // Both in one piece of memory: actions, then results.
  scratch.start.resize(values_of(lanes, spec.actions + wide));
  const std::span<double> actions = std::span<double>(scratch.start).first(values_of(lanes, spec.actions));
  const std::span<double> results = std::span<double>(scratch.start).subspan(actions.size());
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < spec.actions; ++i)
      actions[values_of(lane, spec.actions) + static_cast<std::size_t>(i)] =
          static_cast<double>(batch.action.row(i)[lane]);
  }
  environments_->step(batch.environment, lanes, actions, results);
  for (int lane = 0; lane < lanes; ++lane) {
    const double* const own = results.data() + std::ptrdiff_t{lane} * wide;
    for (int i = 0; i < spec.observations; ++i)
      batch.next_state.row(i)[lane] = batch.observation.row(i)[lane] = static_cast<Real>(own[i]);
    batch.reward_paper[lane] = batch.signals.row(0)[lane] = static_cast<Real>(own[spec.observations]);
    for (int k = 1; k < this->signals(); ++k) {
      const int cost = this->costs()[static_cast<std::size_t>(k - 1)];
      batch.signals.row(k)[lane] = static_cast<Real>(own[spec.observations + 1 + cost]);
    }
    batch.ended[lane] = own[wide - 1] != 0.0 ? Real(1) : Real(0);
  }
}

template class OutsideEnvironmentSimulator<float>;
template class OutsideEnvironmentSimulator<double>;

}  // namespace cgpo
