#include "cgpo/algorithms/staged.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace {

// What speaks of an engine and not of the policy: what J was on it, what the last step promised, where episodes went.
bool is_of_engine(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kBeginnings = {"monitor.", "origin.", "radius.expected",
                                                                  "radius.account", "critics.samples"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

constexpr double kLeastNoise = 0.25;  // of that of a beginning

// What has to be found out again on the new engine: how far a step may go, for which there must be noise to look around
// with.
void begin_anew(const Tensors& fresh, Tensors& state) {
  for (const char* const name : {"radius.value", "radius.taken"}) {
    const auto found = fresh.entries.find(name);
    if (found != fresh.entries.end()) state.entries[name] = found->second;
  }
  constexpr const char* kLogStd = "policy.log_std";
  const auto found = state.entries.find(kLogStd);
  if (found == state.entries.end() || found->second.shape.empty()) return;
  std::vector<float> noise(static_cast<std::size_t>(found->second.shape.front()));
  std::vector<float> first(noise.size());
  state.get(kLogStd, std::span(noise));
  fresh.get(kLogStd, std::span(first));
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = std::max(noise[i], first[i] + static_cast<float>(std::log(kLeastNoise)));
  }
  state.put(kLogStd, std::span<const float>(noise));
}

class StagedAlgorithm final : public Algorithm {
  static constexpr std::int64_t kUnknown = -1;  // of a run that did not count

 public:
  StagedAlgorithm(const AlgorithmEntry& entry, const AlgorithmContext& context)
      : entry_(entry), context_(context), first_(preparing_iterations(entry.name, context.settings, *context.task)) {
    begin(/*prepares=*/true);
  }

  IterationReport iterate() override {
    if (prepares_ && active_->iteration() >= first_) move_over();
    IterationReport report = active_->iterate();
    report.stage = prepares_ ? "own" : "task";
    if (prepares_) steps_own_ = report.steps;
    if (steps_own_ >= 0) {
      report.steps_own = static_cast<double>(steps_own_);
      report.steps_task = static_cast<double>(report.steps - steps_own_);
    }
    return report;
  }
  int iteration() const override { return active_->iteration(); }

  void save(Tensors& tensors) const override {
    active_->save(tensors);
    tensors.put("stage", static_cast<std::int64_t>(prepares_ ? 0 : 1));
    tensors.put("stage.steps", steps_own_);
  }
  void load(const Tensors& tensors) override {
    const bool prepares = tensors.contains("stage") && tensors.integer("stage") == 0;  // older runs have no stages
    if (prepares != prepares_) begin(prepares);
    steps_own_ = tensors.contains("stage.steps") ? tensors.integer("stage.steps") : kUnknown;
    active_->load(tensors);
  }
  void warm_start(const Tensors& tensors) override { active_->warm_start(tensors); }

 private:
  void begin(bool prepares) {
    AlgorithmContext context = context_;
    BatchSettings& batch = context.settings.batch;
    batch.smallest = std::max(batch.smallest, context.settings.twin.smallest);
    if (prepares) context.task = context_.task->prelude();
    active_ = nullptr;  // two at once would take twice the memory
    active_ = entry_.make(context);
    prepares_ = prepares;
  }

  // The mean action, normaliser, critics and multipliers go along. Steps are all that were taken, those too that
  // a beginning takes for its normaliser.
  void move_over() {
    Tensors state;
    active_->save(state);
    begin(/*prepares=*/false);
    Tensors fresh;
    active_->save(fresh);
    std::erase_if(state.entries, [](const auto& entry) { return is_of_engine(entry.first); });
    begin_anew(fresh, state);
    state.put("steps", state.integer("steps") + fresh.integer("steps"));
    active_->load(state);
  }

  const AlgorithmEntry& entry_;
  AlgorithmContext context_;
  int first_;                   // iterations on our engine
  std::int64_t steps_own_ = 0;  // steps of these
  std::unique_ptr<Algorithm> active_;
  bool prepares_ = true;
};

}  // namespace

int preparing_iterations(const std::string& name, const Settings& settings, const Task& task) {
  const bool by_gradients = settings.gradient.source != GradientSource::kZobg;
  if (settings.twin.first == 0.0 || task.twin() == nullptr || !by_gradients) return 0;
  if (find_algorithm(name).keeps_data) {
    throw UserError(
        "{} learns a model of one engine, so it has no first stage on ours: without --then, and twin.first=0", name);
  }
  const auto share = static_cast<int>(std::lround(settings.twin.first * settings.iterations));
  return std::min(std::max(1, share), settings.iterations - 1);
}

std::unique_ptr<Algorithm> make_algorithm(const std::string& name, const AlgorithmContext& context) {
  const AlgorithmEntry& entry = find_algorithm(name);
  if (preparing_iterations(name, context.settings, *context.task) == 0) return entry.make(context);
  return std::make_unique<StagedAlgorithm>(entry, context);
}

}  // namespace cgpo
