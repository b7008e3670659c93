#include "cgpo/algorithms/memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/nn/critic.hpp"
#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/world/world_simulator.hpp"

namespace cgpo {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kDouble = sizeof(double);
constexpr const char* kFewerSteps = "lower environments or horizon";
// Code and data of the program, the task's compiled kernels and what compiling them takes for a while.
constexpr std::int64_t kProgram = std::int64_t{24} << 20;

std::int64_t row_bytes(std::int64_t rows, std::int64_t columns) {
  return rows * padded_stride<float>(columns) * kFloat;
}
std::int64_t table_bytes(int features, std::int64_t samples) {
  return static_cast<std::int64_t>(SampleTable<float>::bytes(features, samples));
}

std::int64_t block_count(const MemorySizes& sizes) {
  const std::int64_t block = sizes.settings.kernel.block;
  return (sizes.settings.environments + block - 1) / block;
}

// Sum over the blocks of what one of so many lanes takes.
template <class BytesOfLanes>
std::int64_t over_blocks(const MemorySizes& sizes, BytesOfLanes bytes_of) {
  const int block = sizes.settings.kernel.block;
  const int rest = sizes.settings.environments % block;
  return sizes.settings.environments / block * bytes_of(block) + (rest > 0 ? bytes_of(rest) : 0);
}

std::int64_t batch_bytes(const MemorySizes& sizes, const BatchRows& rows, Keep keep, int windows = 0) {
  return over_blocks(
      sizes, [&](int lanes) { return TrajectoryBlock<float>::bytes(rows, lanes, sizes.horizon, keep, windows); });
}

// Their arrays for a fit: minibatches, and what they are drawn from.
std::int64_t workspace_bytes(const MemorySizes& sizes, int columns) {
  return static_cast<std::int64_t>(CriticWorkspace<float>::bytes(sizes.critic, columns));
}

// GradientEstimate: of every signal a vector, one a group, and of every block one a group.
std::int64_t estimate_bytes(const MemorySizes& sizes) {
  return GradientEstimate::bytes(sizes.signals, block_count(sizes), sizes.policy.parameter_count());
}

// GroupedColumns of a block's steps, and the rows of the policy in their order.
std::int64_t grouped_bytes(const MemorySizes& sizes, int steps, int lanes) {
  const std::int64_t columns = std::int64_t{steps} * lanes;
  const std::int64_t units = sizes.policy.unit_count();
  return row_bytes(sizes.spec.observations + sizes.spec.actions + 2 * units, columns) + 3 * columns * kFloat / 2;
}

// FirstOrderGradient.
std::int64_t sweep_bytes(const MemorySizes& sizes, int states, int window, bool critics) {
  constexpr int kSegment = 16;
  const int steps = std::min({window > 0 ? window : sizes.horizon, sizes.horizon, kSegment});
  const std::int64_t signals = sizes.signals;
  const int pair = states + sizes.spec.actions;
  const std::int64_t blocks = over_blocks(sizes, [&](int lanes) {
    return signals * row_bytes(sizes.policy.unit_count(), std::int64_t{steps} * lanes) +
           grouped_bytes(sizes, steps, lanes) +
           row_bytes(signals * (3 * states + sizes.spec.observations + sizes.spec.actions + 1) + states, lanes) +
           row_bytes(sizes.spec.observations + 1, lanes) +    // of ends
           row_bytes(signals * (2 * pair + states), lanes) +  // the simulator's own
           (critics ? workspace_bytes(sizes, lanes) : 0);
  });
  return blocks + estimate_bytes(sizes);
}

// ZerothOrderGradient.
std::int64_t score_bytes(const MemorySizes& sizes) {
  const std::int64_t blocks = over_blocks(sizes, [&](int lanes) {
    return grouped_bytes(sizes, 16, lanes) + row_bytes(sizes.signals, std::int64_t{16 + sizes.horizon} * lanes);
  });
  return blocks + estimate_bytes(sizes);
}

// state_slopes() and the critics' part of it: SlopeTargets and what a fit to slopes works with.
std::int64_t slope_bytes(const MemorySizes& sizes, int states) {
  if (!(sizes.settings.critic.sobolev > 0.0)) return 0;
  const int batch = sizes.settings.critic.batch;
  const std::int64_t kept = over_blocks(sizes, [&](int lanes) {
    return row_bytes(std::int64_t{sizes.signals} * states, std::int64_t{sizes.horizon} * lanes);
  });
  const std::int64_t each = 2 * table_bytes(states + 1, sizes.samples()) +
                            row_bytes(3 * states + 2 * sizes.spec.observations, batch) +
                            row_bytes(2 * (sizes.spec.observations + 1) + 3 * sizes.critic.unit_count(), batch);
  return kept + sizes.signals * each;
}

// What ActorCritic has beside its batch, and the run's copies of all networks: the state as it was, and while one is
// written the file as text.
void add_networks(const MemorySizes& sizes, MemoryEstimate& estimate) {
  const std::int64_t numbers = std::int64_t{sizes.policy.parameter_count()} * 3 +
                               std::int64_t{sizes.signals} * sizes.critic.parameter_count() * 3;
  constexpr std::int64_t kCopies = 4;
  estimate.parts.push_back(
      {"networks and checkpoints", "lower policy.hidden or critic.hidden", kCopies * numbers * kFloat});
  estimate.parts.push_back({"program and simulator", "give it more", kProgram});
}

// Episodes that a fit has where samples of earlier iterations help it; 0: they do not.
std::int64_t remembered_episodes(const MemorySizes& sizes) {
  const Settings& settings = sizes.settings;
  const int fewest =
      settings.batch.adaptive ? std::min(settings.batch.smallest, settings.environments) : settings.environments;
  if (settings.critic.sobolev > 0.0 || settings.critic.memory <= fewest) return 0;
  return std::min<std::int64_t>(settings.critic.memory, std::int64_t{settings.environments} * settings.iterations);
}

void add_critics(const MemorySizes& sizes, int slope_states, MemoryEstimate& estimate) {
  const std::int64_t steps = sizes.samples();
  const std::int64_t fitted = std::max(steps, remembered_episodes(sizes) * sizes.horizon);  // with older ones
  const std::int64_t first_states = sizes.settings.environments;
  const std::int64_t each = (2 * steps + first_states) * kFloat +  // values and targets
                            fitted * 2 * kFloat;                   // targets once more, and which of them count
  estimate.parts.push_back(
      {"critics' targets", kFewerSteps,
       sizes.signals * each + table_bytes(sizes.spec.observations + 1, fitted) + slope_bytes(sizes, slope_states)});
  // A vector doubles as it fills.
  const std::int64_t old_width = (sizes.spec.observations + 1 + 2 * std::int64_t{sizes.signals}) * kFloat;
  estimate.parts.push_back({"critics' older samples", "lower critic.memory or horizon",
                            remembered_episodes(sizes) * sizes.horizon * old_width * 3 / 2});
  estimate.parts.push_back({"critics' minibatches", "lower critic.batch or critic.hidden",
                            sizes.signals * workspace_bytes(sizes, sizes.settings.critic.batch)});
}

// ActionMetric and GradientProducts.
std::int64_t metric_bytes(const MemorySizes& sizes) {
  const std::int64_t parameters = sizes.policy.parameter_count();
  const std::int64_t products = (kGradientGroups + 3 * std::int64_t{sizes.signals}) * parameters * kDouble;
  if (sizes.settings.radius.metric != RadiusMetric::kAction) return products;
  const int actions = sizes.spec.actions;
  const int units = sizes.policy.unit_count();
  const int states = std::max(1, sizes.settings.radius.rows / actions);
  const std::int64_t rows = std::int64_t{states} * actions;
  const std::int64_t memories = std::max<std::int64_t>(kGradientGroups, sizes.signals);
  return products + (2 * rows * rows + std::int64_t{states} * states) * kDouble +
         row_bytes(std::int64_t{units} * (actions + 1) + sizes.spec.observations, states) +
         (rows + states) * (units + sizes.spec.observations) * kFloat +
         memories * (parameters * (kFloat + kDouble) + row_bytes(3 * std::int64_t{units}, states) + rows * kDouble);
}

void add_trial(const MemorySizes& sizes, MemoryEstimate& estimate) {
  if (sizes.settings.radius.test != RadiusTest::kPaired) return;
  constexpr int kMost = 16;
  MemorySizes trial = sizes;
  trial.settings.environments = std::min(kMost, sizes.settings.environments);
  BatchRows rows = sizes.rows();
  rows.units = sizes.policy.unit_count();
  estimate.parts.push_back(
      {"episodes of radius.test = \"paired\"", "lower horizon", batch_bytes(trial, rows, Keep::kOutcome)});
}

// PolicyMonitor.
void add_monitor(const MemorySizes& sizes, MemoryEstimate& estimate) {
  constexpr int kStarts = 4096;
  constexpr int kColumns = 512;
  const Settings& settings = sizes.settings;
  BatchRows rows = sizes.rows();
  rows.units = sizes.policy.unit_count();
  if (settings.batch.deployed > 0.0) {
    MemorySizes deployed = sizes;
    deployed.settings.environments =
        std::max(2, static_cast<int>(std::ceil(settings.batch.deployed * settings.environments)));
    estimate.parts.push_back({"episodes of the deployed policy", "lower batch.deployed, environments or horizon",
                              batch_bytes(deployed, rows, Keep::kOutcome)});
  }
  if (settings.radius.confidence > 0.0) {
    estimate.parts.push_back({"start states", "lower critic.hidden",
                              row_bytes(2 * std::int64_t{sizes.spec.observations}, kStarts) + kStarts * kFloat +
                                  workspace_bytes(sizes, kColumns)});
  }
}

void add_episodes(const MemorySizes& sizes, Keep keep, MemoryEstimate& estimate) {
  add_monitor(sizes, estimate);
  BatchRows rows = sizes.rows();
  rows.units = sizes.policy.unit_count();
  estimate.parts.push_back({"episodes", kFewerSteps, batch_bytes(sizes, rows, keep)});
}

BatchRows evaluation_rows(const MemorySizes& sizes) {
  BatchRows rows = sizes.rows();
  rows.units = sizes.policy.unit_count();
  return rows;
}

}  // namespace

std::int64_t MemoryEstimate::total() const {
  std::int64_t sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

namespace {

// Of the stage that has more of them.
int inner_rows_of(const Task& task, const Settings& settings) {
  if (settings.twin.first > 0.0 && task.prelude() != nullptr) return inner_rows_of(*task.prelude(), {});
  return std::holds_alternative<Substeps>(task.dynamics()) ? (task.spec().substeps - 1) * task.spec().states : 0;
}

}  // namespace

MemorySizes::MemorySizes(const Task& task, const Settings& settings_in)
    : spec(task.spec()),
      settings(settings_in),
      horizon(resolve_horizon(task, settings_in)),
      signals(1 + static_cast<int>(resolve_constraints(task, settings_in).costs.size())),
      inner_rows(inner_rows_of(task, settings_in)),
      twin_rows(task.twin() != nullptr ? inner_rows_of(*task.twin(), {}) : 0),
      twin_bytes(task.twin() != nullptr ? TwinFit::bytes(*task.twin(), std::min(settings_in.window, horizon)) : 0),
      policy(spec.observations, settings.policy.hidden, spec.actions, settings.policy.learn_std),
      critic({spec.observations + 1, settings.critic.hidden, 1}) {}

namespace {

void add_twin(const MemorySizes& sizes, MemoryEstimate& estimate) {
  if (sizes.twin_bytes > 0) estimate.parts.push_back({"the twin's fit", "lower window", sizes.twin_bytes});
}

}  // namespace

void add_cgpo_memory(const MemorySizes& sizes, MemoryEstimate& estimate) {
  add_episodes(sizes, Keep::kInner, estimate);
  add_trial(sizes, estimate);
  add_critics(sizes, sizes.spec.states, estimate);
  const GradientSource source = sizes.settings.gradient.source;
  const bool windows = source == GradientSource::kShac;
  std::int64_t gradient =
      source == GradientSource::kZobg
          ? score_bytes(sizes)
          : sweep_bytes(sizes, sizes.spec.states, windows ? sizes.settings.window : 0, /*critics=*/windows);
  if (windows && sizes.settings.gradient.correction != GradientCorrection::kNone) {  // at most: not if nothing ends
    gradient += score_bytes(sizes) + 2 * sizes.samples() * kFloat +
                over_blocks(sizes, [&](int lanes) { return workspace_bytes(sizes, lanes); }) +
                3 * estimate_bytes(sizes);
    if (sizes.twin_bytes > 0) {  // its promises of single steps
      BatchRows rows = sizes.rows();
      rows.inner = sizes.twin_rows;
      rows.units = sizes.policy.unit_count();
      gradient +=
          batch_bytes(sizes, rows, Keep::kInner, sizes.horizon) +
          over_blocks(sizes,
                      [&](int lanes) { return row_bytes(sizes.spec.states, std::int64_t{sizes.horizon} * lanes); }) +
          sweep_bytes(sizes, sizes.spec.states, 1, /*critics=*/true) + estimate_bytes(sizes);
    }
  }
  estimate.parts.push_back({"gradients",
                            "lower environments, critic.hidden, policy.hidden or radius.rows, or raise kernel.block",
                            gradient + metric_bytes(sizes)});
  add_twin(sizes, estimate);
}

void add_first_order_memory(const MemorySizes& sizes, MemoryEstimate& estimate) {
  add_episodes(sizes, Keep::kInner, estimate);
  add_critics(sizes, sizes.spec.states, estimate);
  estimate.parts.push_back({"gradients", "lower environments, critic.hidden or policy.hidden, or raise kernel.block",
                            sweep_bytes(sizes, sizes.spec.states, sizes.settings.window, /*critics=*/true)});
  add_twin(sizes, estimate);
}

void add_model_based_memory(const MemorySizes& sizes, MemoryEstimate& estimate) {
  const Settings& settings = sizes.settings;
  const WorldSettings& world = settings.world;
  add_episodes(sizes, Keep::kInner, estimate);
  add_trial(sizes, estimate);
  add_critics(sizes, sizes.spec.observations, estimate);

  // Windows, whole episodes and a path along the real ones, in the model; a state is an observation there.
  const TransitionShape shape{sizes.spec.observations, sizes.spec.actions, sizes.signals};
  const Mlp<float> mlp({shape.inputs(), world.hidden, shape.outputs()});
  BatchRows rows = sizes.rows();
  rows.states = rows.observations;
  rows.units = sizes.policy.unit_count();
  rows.inner = world.members * mlp.unit_count();
  const int window = std::min(settings.window, sizes.horizon);
  const auto imagined = [&](Keep keep, int steps) {
    BatchRows kept = rows;
    if (keep == Keep::kOutcome) kept.inner = 0;
    return batch_bytes(sizes, kept, Keep::kInner, (sizes.horizon + steps - 1) / steps);  // units are kept anyway
  };
  const bool in_windows = world.states == WorldStates::kModel && !world.correction;
  std::int64_t batches =
      imagined(in_windows ? Keep::kInner : Keep::kOutcome, window) + imagined(Keep::kOutcome, sizes.horizon);
  if (!in_windows) batches += imagined(Keep::kInner, world.correction ? 1 : window);
  estimate.parts.push_back({"episodes in the model", kFewerSteps, batches});

  std::int64_t gradient = sweep_bytes(sizes, sizes.spec.observations, window, /*critics=*/true);
  if (world.correction) {
    gradient += sweep_bytes(sizes, sizes.spec.observations, 1, /*critics=*/true) + score_bytes(sizes) +
                2 * sizes.samples() * kFloat +
                sizes.signals * over_blocks(sizes, [&](int lanes) { return workspace_bytes(sizes, lanes); }) +
                estimate_bytes(sizes);
  }
  estimate.parts.push_back({"gradients",
                            "lower environments, critic.hidden, policy.hidden or radius.rows, or raise kernel.block",
                            gradient + metric_bytes(sizes)});

  // A store doubles as it fills, and the old half is there while the new one is made.
  const std::int64_t kept = std::min<std::int64_t>(world.buffer, sizes.samples() * settings.iterations);
  const std::int64_t width = shape.width() * kFloat;
  const std::int64_t fresh = 4 * sizes.samples() * width;  // as gathered, as tensors, in the file's text
  estimate.parts.push_back(
      {"transitions", "lower world.buffer, environments or horizon", kept * width * 3 / 2 + fresh});
  const std::int64_t parameters = mlp.parameter_count();
  estimate.parts.push_back(
      {"model", "lower world.hidden, world.batch or world.members",
       world.members * (parameters * (4 * kFloat + kDouble) + row_bytes(shape.width(), world.batch) +
                        row_bytes(2 * std::int64_t{mlp.unit_count()}, world.batch)) +
           std::int64_t{12} * world.members * parameters * kFloat});
}

void add_on_policy_memory(const MemorySizes& sizes, MemoryEstimate& estimate) {
  constexpr int kColumns = 512;
  constexpr std::int64_t kSlots = 16;
  const Settings& settings = sizes.settings;
  add_episodes(sizes, Keep::kOutcome, estimate);
  add_critics(sizes, sizes.spec.states, estimate);
  const std::int64_t steps = sizes.samples();
  const int features = sizes.spec.observations + 2 * sizes.spec.actions + sizes.signals;
  const std::int64_t names = 3 * steps * kFloat;  // of samples: those that count, by block and in all, and their order
  estimate.parts.push_back(
      {"advantages", kFewerSteps,
       sizes.signals * (3 * steps + settings.environments) * kFloat + table_bytes(features, steps) + names});
  const std::int64_t parameters = sizes.policy.parameter_count();
  const int units = sizes.policy.unit_count();
  const std::int64_t blocks =
      over_blocks(sizes, [&](int lanes) { return workspace_bytes(sizes, std::max(kColumns, lanes)); });
  const std::int64_t slots =
      kSlots *
      (row_bytes(features + 3 * std::int64_t{units} + sizes.spec.actions + 4, kColumns) + parameters * kDouble);
  estimate.parts.push_back(
      {"minibatches", "lower critic.hidden or policy.hidden, or raise kernel.block", blocks + slots});
}

// FisherMatrix.
void add_natural_memory(const MemorySizes& sizes, MemoryEstimate& estimate) {
  constexpr int kStates = 512;
  add_on_policy_memory(sizes, estimate);
  const std::int64_t used = std::min<std::int64_t>(sizes.settings.update.states, sizes.samples());
  const std::int64_t parameters = sizes.policy.parameter_count();
  const std::int64_t rows = sizes.spec.observations + 3 * std::int64_t{sizes.policy.unit_count()};
  estimate.parts.push_back({"states of the trust region", "lower update.states",
                            (used + kStates - 1) / kStates * (row_bytes(rows, kStates) + parameters * kDouble)});
}

void add_pdo_memory(const MemorySizes& sizes, MemoryEstimate& estimate) {
  (sizes.settings.pdo.step == PdoStep::kNatural ? add_natural_memory : add_on_policy_memory)(sizes, estimate);
}

MemoryEstimate memory_of_training(const std::string& algorithm, const Task& task, const Settings& settings) {
  MemoryEstimate estimate;
  const MemorySizes sizes(task, settings);
  find_algorithm(algorithm).add_memory(sizes, estimate);
  add_networks(sizes, estimate);
  return estimate;
}

MemoryEstimate memory_of_evaluation(const Task& task, const Settings& settings, int episodes, int at_once) {
  MemorySizes sizes(task, settings);
  sizes.settings.environments = std::min(episodes, at_once);
  // Vectors that double as they grow, and copies in which statistics are taken.
  const std::int64_t results = std::int64_t{episodes} * (sizes.signals + 2) * kDouble * 3;
  MemoryEstimate estimate;
  estimate.parts.push_back({"episodes side by side", "train with a shorter horizon",
                            batch_bytes(sizes, evaluation_rows(sizes), Keep::kOutcome)});
  estimate.parts.push_back({"results", "lower --episodes", results});
  return estimate;
}

MemoryEstimate memory_of_recording(const Task& task, const Settings& settings, int episodes) {
  MemorySizes sizes(task, settings);
  sizes.settings.environments = episodes;
  sizes.settings.kernel.block = 1;
  const std::int64_t numbers = sizes.spec.states + sizes.spec.observations + sizes.spec.actions + sizes.signals;
  constexpr std::int64_t kVectors = 3 * (sizeof(std::vector<double>) + 16);  // of a step
  MemoryEstimate estimate;
  estimate.parts.push_back(
      {"episodes", "lower --episodes",
       batch_bytes(sizes, evaluation_rows(sizes), Keep::kOutcome) + sizes.samples() * (numbers * kDouble + kVectors)});
  return estimate;
}

void check_memory(const MemoryEstimate& estimate, const std::string& what, const std::optional<MemoryLimit>& limit) {
  if (!limit || estimate.total() <= limit->bytes) return;
  const auto largest = std::max_element(estimate.parts.begin(), estimate.parts.end(),
                                        [](const MemoryPart& a, const MemoryPart& b) { return a.bytes < b.bytes; });
  throw TooLittleMemory("{} needs about {} of memory, {} of it for {}, and only {} are {}: {}", what,
                        format_bytes(estimate.total()), format_bytes(largest->bytes), largest->name,
                        format_bytes(limit->bytes), limit->who, largest->remedy);
}

}  // namespace cgpo
