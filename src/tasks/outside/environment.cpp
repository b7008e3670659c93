#include "cgpo/tasks/outside/environment.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <vector>

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

  bool in_parallel() const override { return true; }

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

std::shared_ptr<const Task> make_outside_task(TaskSpec spec, std::shared_ptr<OutsideEnvironments> environments) {
  TaskParts parts;
  parts.spec = seen_from_outside(std::move(spec));
  parts.reset = [environments](RandomStream& random, std::span<double> state) {
    const std::uint64_t seed = random.bits64();
    environments->reset(0, {&seed, 1}, state);
  };
  parts.reset_in_batch = [environments](RandomStream& random, const BatchPlace& place, std::span<double> state) {
    const std::uint64_t seed = random.bits64();
    environments->reset(place.environment, {&seed, 1}, state);
  };
  parts.observe = [](TracedSpan state, std::span<Traced> observation) {
    std::copy(state.begin(), state.end(), observation.begin());
  };
  parts.dynamics = std::move(environments);
  return std::make_shared<const Task>(std::move(parts));
}

std::shared_ptr<OutsideEnvironments> make_environments(const TaskSpec& spec,
                                                       std::function<std::unique_ptr<Environment>()> make) {
  return std::make_shared<EnvironmentList>(spec, std::move(make));
}

std::shared_ptr<const Task> make_environment_task(TaskSpec spec, std::function<std::unique_ptr<Environment>()> make) {
  auto environments = make_environments(spec, std::move(make));
  return make_outside_task(std::move(spec), std::move(environments));
}

}  // namespace cgpo
