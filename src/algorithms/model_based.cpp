#include "cgpo/algorithms/model_based.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "cgpo/algorithms/cgpo.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/gradient/corrected.hpp"
#include "cgpo/rollout/imagine.hpp"
#include "cgpo/world/world_simulator.hpp"

namespace cgpo {
namespace {

// Else imagined windows are only reported on.
bool takes_gradients_in_windows(const WorldSettings& settings) {
  return settings.states == WorldStates::kModel && !settings.correction;
}

// Real episodes → transitions → model → its derivatives, in windows that critics close → gradients. They are taken
// along the real episodes (world.states = real), or along what the model makes of each window from its real first state
// and with the real noise (model); or step by step, with what the model missed put right (world.correction). J_R and
// J_C stay those of the real episodes, and so do the critics' targets.
class ModelGradient final : public PolicyGradientSource {
 public:
  explicit ModelGradient(const ActorCritic<float>& parts)
      : settings_(parts.context.settings.world),
        window_(std::min(parts.context.settings.window, parts.horizon)),
        held_every_(held_out_every(settings_.held_out, parts.batch.environments)),
        model_(transition_shape(*parts.context.task, parts.constraints.costs), settings_),
        simulator_(*parts.context.task, parts.constraints.costs, model_),
        training_(model_.shape(), settings_.buffer),
        held_out_(model_.shape(), std::max<std::int64_t>(1, std::llround(settings_.held_out * settings_.buffer))),
        imagined_(simulator_, parts.batch.environments, parts.horizon, parts.context.settings.kernel.block,
                  takes_gradients_in_windows(settings_) ? Keep::kInner : Keep::kOutcome),
        whole_(simulator_, parts.batch.environments, parts.horizon, parts.context.settings.kernel.block,
               Keep::kOutcome),
        gradient_(simulator_, parts.policy, imagined_, window_, horizon_rule(parts.context.settings)) {
    if (settings_.correction) {
      single_steps_.emplace(simulator_, parts.batch.environments, parts.horizon, parts.context.settings.kernel.block);
      corrected_.emplace(*parts.simulator, simulator_, parts.policy, parts.batch, *single_steps_,
                         horizon_rule(parts.context.settings), parts.context.settings.critic.lambda);
    } else if (settings_.states == WorldStates::kReal) {
      real_path_.emplace(simulator_, parts.batch.environments, parts.horizon, parts.context.settings.kernel.block);
    }
    if (parts.context.settings.gradient.source != GradientSource::kShac) {
      throw UserError("mb-cgpo needs gradient.source = \"shac\": windows inside the model that critics close");
    }
    model_.initialise(parts.context.seed);
  }

  void learn(const ActorCritic<float>& parts, int iteration, IterationReport& report) override {
    for (Batch<float>* batch :
         {&imagined_, &whole_, real_path_ ? &*real_path_ : nullptr, single_steps_ ? &*single_steps_ : nullptr}) {
      if (batch != nullptr) batch->use(parts.batch.environments);
    }
    remember(parts, iteration);
    const WorldFit fit = model_.fit(training_, held_out_, parts.context.seed, iteration, *parts.context.pool);
    // Windows from real states, and, to see what the model makes of the policy, whole episodes from real starts.
    imagine(simulator_, parts.actor(), parts.batch, window_, Replay::kNoise, *parts.context.pool, imagined_);
    if (real_path_)
      imagine(simulator_, parts.actor(), parts.batch, window_, Replay::kStates, *parts.context.pool, *real_path_);
    if (single_steps_)
      imagine(simulator_, parts.actor(), parts.batch, 1, Replay::kNoise, *parts.context.pool, *single_steps_);
    imagine(simulator_, parts.actor(), parts.batch, 0, Replay::kNoise, *parts.context.pool, whole_);
    const auto steps = std::int64_t{parts.batch.environments} * parts.horizon;
    real_steps_ += steps;
    model_steps_ += (real_path_ || single_steps_ ? 3 : 2) * steps;
    report.world = world_report(parts, fit);
  }

  bool uses_critics() const override { return true; }
  SlopeSource<float> slopes(const ActorCritic<float>& parts) override {
    return {&simulator_, &path(), &gradient_.state_slopes(path(), parts.actor(), parts.critics, *parts.context.pool)};
  }
  const GradientEstimate& estimate(const ActorCritic<float>& parts) override {
    if (corrected_)
      return corrected_->estimate(parts.batch, *single_steps_, parts.actor(), parts.critics, *parts.context.pool);
    return gradient_.estimate(path(), parts.actor(), parts.critics, *parts.context.pool);
  }

  void save(Tensors& tensors) const override {
    model_.save(tensors, "world");
    tensors.put("world.steps", std::span<const std::int64_t>(std::array{real_steps_, model_steps_}));
    tensors.put("world.sizes", std::span<const std::int64_t>(sizes_));
  }
  void load(const Tensors& tensors) override {
    model_.load(tensors, "world");
    std::array<std::int64_t, 2> steps{};
    tensors.get("world.steps", std::span<std::int64_t>(steps));
    real_steps_ = steps[0];
    model_steps_ = steps[1];
    check_data(tensors);
  }

  std::shared_ptr<const Tensors> take_new_data() override { return std::move(new_data_); }
  // The data of an iteration is needed as long as one of its transitions is kept.
  int first_data_needed() const override {
    std::int64_t training = 0;
    std::int64_t held = 0;
    std::size_t first = sizes_.size() / 2;
    while (first > 0 && (training < training_.size() || held < held_out_.size())) {
      --first;
      training += sizes_[2 * first];
      held += sizes_[2 * first + 1];
    }
    return static_cast<int>(first);
  }
  void load_data(const Tensors& data) override {
    const auto append = [&](const char* name, TransitionStore& store) {
      const auto found = data.entries.find(name);
      if (found == data.entries.end()) throw UserError("it has no data '{}'", name);
      std::vector<float> rows(found->second.bytes.size() / sizeof(float));
      data.get(name, std::span<float>(rows));
      store.append(rows);
    };
    append("training", training_);
    append("held_out", held_out_);
  }

 private:
  void remember(const ActorCritic<float>& parts, int iteration) {
    gather_transitions(*parts.simulator, parts.batch, held_every_, iteration, fresh_);
    training_.append(fresh_.training);
    held_out_.append(fresh_.held_out);
    model_.observe(fresh_.training);
    const auto count = [&](const std::vector<float>& rows) {
      return static_cast<std::int64_t>(rows.size()) / model_.shape().width();
    };
    sizes_.push_back(count(fresh_.training));
    sizes_.push_back(count(fresh_.held_out));
    auto data = std::make_shared<Tensors>();
    data->put("training", std::span<const float>(fresh_.training));
    data->put("held_out", std::span<const float>(fresh_.held_out));
    new_data_ = std::move(data);
  }

  // What was loaded must be what the checkpoint's iterations left.
  void check_data(const Tensors& tensors) {
    const auto found = tensors.entries.find("world.sizes");
    sizes_.resize(found == tensors.entries.end() ? 0 : found->second.bytes.size() / sizeof(std::int64_t));
    tensors.get("world.sizes", std::span<std::int64_t>(sizes_));
    std::array<std::int64_t, 2> all{};
    for (std::size_t i = 0; i < sizes_.size(); ++i) all[i % 2] += sizes_[i];
    const std::array<std::int64_t, 2> expected = {
        std::min<std::int64_t>(all[0], settings_.buffer),
        std::min<std::int64_t>(all[1], std::max<std::int64_t>(1, std::llround(settings_.held_out * settings_.buffer)))};
    if (training_.size() != expected[0] || held_out_.size() != expected[1]) {
      throw UserError("the data that its model is fitted to is not whole: {} and {} transitions instead of {} and {}",
                      training_.size(), held_out_.size(), expected[0], expected[1]);
    }
  }

  WorldReport world_report(const ActorCritic<float>& parts, const WorldFit& fit) const {
    WorldReport report;
    report.state_error = fit.held_out.state;
    report.signal_errors = fit.held_out.signals;
    report.spread = fit.held_out.spread;
    report.training_loss = fit.training_loss;
    report.minibatches = fit.minibatches;
    report.transitions = training_.size();
    report.model_share = static_cast<double>(model_steps_) / static_cast<double>(model_steps_ + real_steps_);
    const std::span<const double> unit =
        std::span<const double>(model_.input_scale().std).first(static_cast<std::size_t>(model_.shape().observations));
    report.window_error = prediction_errors(parts.batch, imagined_, window_, unit).state.back();
    const BatchStatistics windows = summarise(imagined_);
    report.return_windows = windows.mean[0];
    report.costs_windows.assign(windows.mean.begin() + 1, windows.mean.end());
    const BatchStatistics episodes = summarise(whole_);
    report.return_episodes = episodes.mean[0];
    report.costs_episodes.assign(episodes.mean.begin() + 1, episodes.mean.end());
    return report;
  }

  const Batch<float>& path() const { return real_path_ ? *real_path_ : imagined_; }

  WorldSettings settings_;
  int window_;
  int held_every_;  // environments; 0: none is held out
  WorldModel<float> model_;
  WorldSimulator<float> simulator_;
  TransitionStore training_, held_out_;
  Batch<float> imagined_;                  // in windows; gradients are taken along it if there is no real path
  std::optional<Batch<float>> real_path_;  // step by step, each from the real state
  std::optional<Batch<float>> single_steps_;
  std::optional<CorrectedGradient<float>> corrected_;
  Batch<float> whole_;  // episodes
  FirstOrderGradient<float> gradient_;
  BatchTransitions fresh_;
  std::vector<std::int64_t> sizes_;  // of each iteration: transitions it added to training_, and to held_out_
  std::shared_ptr<const Tensors> new_data_;
  std::int64_t real_steps_ = 0;
  std::int64_t model_steps_ = 0;
};

}  // namespace

HorizonErrors measure_horizon(const AlgorithmContext& context, const Tensors& checkpoint, int episodes, int steps) {
  AlgorithmContext fresh = context;
  fresh.settings.environments = episodes;
  ActorCritic<float> parts(fresh);
  parts.load(checkpoint);
  WorldModel<float> model(transition_shape(*context.task, parts.constraints.costs), context.settings.world);
  model.load(checkpoint, "world");
  const WorldSimulator<float> simulator(*context.task, parts.constraints.costs, model);
  Batch<float> imagined(simulator, episodes, parts.horizon, context.settings.kernel.block, Keep::kOutcome);
  const EpisodeKey key{.seed = context.seed, .reset = Purpose::kEvalReset, .noise = Purpose::kEvalNoise};
  collect(*parts.simulator, parts.actor(), key, /*deterministic=*/false, *context.pool, parts.batch);
  imagine(simulator, parts.actor(), parts.batch, steps, Replay::kActions, *context.pool, imagined);
  const std::span<const double> unit =
      std::span<const double>(model.input_scale().std).first(static_cast<std::size_t>(model.shape().observations));
  HorizonErrors result{prediction_errors(parts.batch, imagined, steps, unit), {}, {}};
  for (int k = 0; k < parts.signals(); ++k) {
    Moments moments(1);
    for (const auto& block : parts.batch.blocks) {
      for (int t = 0; t < block.simulated; ++t)
        moments.add(block.signals.view().from_row(k).from_column(block.column(t)), block.lanes());
    }
    result.signal_std.push_back(std::sqrt(moments.variance(0)));
  }
  if (parts.simulator->differentiable()) {
    const int window = std::min(context.settings.window, parts.horizon);
    Batch<float> windows(simulator, episodes, parts.horizon, context.settings.kernel.block);
    const bool real = context.settings.world.states == WorldStates::kReal;
    imagine(simulator, parts.actor(), parts.batch, window, real ? Replay::kStates : Replay::kNoise, *context.pool,
            windows);
    const HorizonRule horizon = horizon_rule(context.settings);
    FirstOrderGradient<float> truth(*parts.simulator, parts.policy, parts.batch, window, horizon);
    FirstOrderGradient<float> learned(simulator, parts.policy, windows, window, horizon);
    const GradientEstimate& a = truth.estimate(parts.batch, parts.actor(), parts.critics, *context.pool);
    const GradientEstimate& b = learned.estimate(windows, parts.actor(), parts.critics, *context.pool);
    for (std::size_t k = 0; k < a.gradients.size(); ++k) {
      double product = 0.0;
      for (std::size_t i = 0; i < a.gradients[k].size(); ++i) product += a.gradients[k][i] * b.gradients[k][i];
      result.gradients.push_back({product / (a.norm(k) * b.norm(k)), a.norm(k), b.norm(k)});
    }
  }
  return result;
}

std::unique_ptr<Algorithm> make_mb_cgpo(const AlgorithmContext& context) {
  return make_cgpo_with(context,
                        [](const ActorCritic<float>& parts) { return std::make_unique<ModelGradient>(parts); });
}

}  // namespace cgpo
