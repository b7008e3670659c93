#include "cgpo/tasks/outside/environment.hpp"

#include <algorithm>
#include <exception>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

TaskSpec seen_from_outside(TaskSpec spec) {
  spec.states = spec.observations;
  spec.differentiable = false;
  return spec;
}

// Environments of a class of ours, one object each.
class EnvironmentList final : public OutsideEnvironments {
 public:
  EnvironmentList(TaskSpec spec, std::function<std::unique_ptr<Environment>()> make)
      : spec_(std::move(spec)), make_(std::move(make)) {
    goes_on_ = !spec_.reward_stops_at_end || std::any_of(spec_.costs.begin(), spec_.costs.end(),
                                                         [](const CostSpec& cost) { return !cost.stops_at_end; });
  }

  void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) override {
    const auto size = static_cast<std::size_t>(spec_.observations);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      Slot& slot = slot_of(first + static_cast<int>(i));
      slot.ended = false;
      guarded([&] { slot.environment->reset(seeds[i], observations.subspan(i * size, size)); });
      slot.last.assign(observations.begin() + static_cast<std::ptrdiff_t>(i * size),
                       observations.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
    }
  }

  void step(int first, int count, std::span<const double> actions, std::span<double> results) override {
    const auto observed = static_cast<std::size_t>(spec_.observations);
    const auto acted = static_cast<std::size_t>(spec_.actions);
    const std::size_t wide = observed + spec_.costs.size() + 2;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      Slot& slot = slot_of(first + i);
      const std::span<double> result = results.subspan(at * wide, wide);
      const std::span<double> observation = result.first(observed);
      const std::span<double> costs = result.subspan(observed + 1, spec_.costs.size());
      if (slot.ended && !goes_on_) {
        std::copy(slot.last.begin(), slot.last.end(), observation.begin());
        std::fill(result.begin() + static_cast<std::ptrdiff_t>(observed), result.end(), 0.0);
        continue;
      }
      guarded([&] {
        const Environment::Step step = slot.environment->step(actions.subspan(at * acted, acted), observation, costs);
        result[observed] = step.reward;
        result[wide - 1] = step.ended ? 1.0 : 0.0;
        slot.ended = slot.ended || step.ended;
      });
      slot.last.assign(observation.begin(), observation.end());
    }
  }

 private:
  struct Slot {
    std::unique_ptr<Environment> environment;
    bool ended = false;
    std::vector<double> last;  // observation
  };

  Slot& slot_of(int number) {
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::size_t>(number);
    while (slots_.size() <= at) {
      auto slot = std::make_unique<Slot>();
      guarded([&] { slot->environment = make_(); });
      if (slot->environment == nullptr)
        throw UserError("task {}: its simulator failed: no environment was made", spec_.name);
      slots_.push_back(std::move(slot));
    }
    return *slots_[at];
  }

  template <class Call>
  void guarded(Call call) const {
    try {
      call();
    } catch (const UserError&) {
      throw;
    } catch (const std::exception& error) {
      throw UserError("task {}: its simulator failed: {}", spec_.name, error.what());
    }
  }

  TaskSpec spec_;
  std::function<std::unique_ptr<Environment>()> make_;
  bool goes_on_ = false;  // whether some signal counts after an episode's end
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace

OutsideTask::OutsideTask(TaskSpec spec, std::shared_ptr<OutsideEnvironments> environments)
    : Task(seen_from_outside(std::move(spec))), environments_(std::move(environments)) {}

void OutsideTask::reset(RandomStream& random, std::span<double> state) const {
  const std::uint64_t seed = (std::uint64_t{random.bits()} << 32) | random.bits();
  environments_->reset(0, {&seed, 1}, state);
}

void OutsideTask::reset_in_batch(RandomStream& random, const BatchPlace& place, std::span<double> state) const {
  const std::uint64_t seed = (std::uint64_t{random.bits()} << 32) | random.bits();
  environments_->reset(place.environment, {&seed, 1}, state);
}

Graph OutsideTask::trace_step() const {
  check(false, "what is outside is no graph");
  return Graph();
}

Graph OutsideTask::trace_observation() const {
  Graph graph;
  trace_outputs(graph, trace_inputs(graph, spec().states));
  return graph;
}

std::shared_ptr<const Task> make_environment_task(TaskSpec spec, std::function<std::unique_ptr<Environment>()> make) {
  auto environments = std::make_shared<EnvironmentList>(spec, std::move(make));
  return std::make_shared<OutsideTask>(std::move(spec), std::move(environments));
}

template <class Real>
OutsideSimulator<Real>::OutsideSimulator(std::shared_ptr<const Task> task, std::vector<int> costs, Backend backend)
    : Simulator<Real>(std::move(task), std::move(costs), /*differentiable=*/false, backend) {}

template <class Real>
void OutsideSimulator<Real>::start(const EpisodeStarts& starts, Rows<Real> state, int lanes,
                                   SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->task().spec();
  std::vector<std::uint64_t> seeds;
  for (int lane = 0; lane < lanes; ++lane) {
    RandomStream random(starts.seed, starts.purpose, starts.iteration,
                        starts.first_stream + static_cast<std::uint32_t>(starts.environment + lane));
    const std::uint64_t high = random.bits();
    seeds.push_back((high << 32) | random.bits());
  }
  scratch.start.resize(static_cast<std::size_t>(lanes * spec.observations));
  this->task().find_outside()->reset(starts.environment, seeds, scratch.start);
  for (int lane = 0; lane < lanes; ++lane) {
    const std::span<const double> own =
        std::span<const double>(scratch.start)
            .subspan(static_cast<std::size_t>(lane * spec.observations), static_cast<std::size_t>(spec.observations));
    check_start(spec, own);
    for (int i = 0; i < spec.observations; ++i)
      state.row(i)[lane] = static_cast<Real>(own[static_cast<std::size_t>(i)]);
  }
}

template <class Real>
void OutsideSimulator<Real>::step(const StepBatch<Real>& batch, int lanes, SimulatorScratch<Real>& scratch) const {
  const TaskSpec& spec = this->task().spec();
  const int wide = spec.observations + static_cast<int>(spec.costs.size()) + 2;
  // Both in one piece of memory: actions, then results.
  scratch.start.resize(static_cast<std::size_t>(lanes * (spec.actions + wide)));
  const std::span<double> actions =
      std::span<double>(scratch.start).first(static_cast<std::size_t>(lanes * spec.actions));
  const std::span<double> results = std::span<double>(scratch.start).subspan(actions.size());
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < spec.actions; ++i)
      actions[static_cast<std::size_t>(lane * spec.actions + i)] = static_cast<double>(batch.action.row(i)[lane]);
  }
  this->task().find_outside()->step(batch.environment, lanes, actions, results);
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

template <class Real>
void OutsideSimulator<Real>::pull_back(const AdjointBatch<Real>&, int, SimulatorScratch<Real>&) const {
  check(false, "what is outside is not pulled back");
}

template class OutsideSimulator<float>;
template class OutsideSimulator<double>;

}  // namespace cgpo
