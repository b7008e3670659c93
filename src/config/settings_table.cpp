// The table of settings: key, what it may be, what it means. A setting's default is that of its member in
// updates/settings.hpp (world/world_model.hpp for world.*); to add one, write the member there and a row here.
//
// A meaning stands alone in `cgpo settings`, in config.toml and on a run's page: a noun, or `whether …` of a flag, and
// after a semicolon what a special value does.
#include <algorithm>
#include <iterator>

#include "cgpo/config/keys.hpp"

namespace cgpo {
namespace {

struct Whole {
  int low = 0;
  int high = 0;
};
struct Either {};
struct Layers {};
struct TaskCosts {};
struct CostLimits {};

constexpr Whole whole(int low, int high) { return {low, high}; }
constexpr Range above(double low) { return {.low = low, .low_open = true}; }
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range closed(double low, double high) { return {.low = low, .high = high}; }
constexpr Range open(double low, double high) {
  return {.low = low, .high = high, .low_open = true, .high_open = true};
}
constexpr Range above_to(double low, double high) { return {.low = low, .high = high, .low_open = true}; }
constexpr Range from_below(double low, double high) { return {.low = low, .high = high, .high_open = true}; }
constexpr Range zero_or_from_below(double low, double high) {
  return {.low = low, .high = high, .high_open = true, .or_zero = true};
}
constexpr Either kEither;
constexpr Layers kLayers;
constexpr TaskCosts kTaskCosts;
constexpr CostLimits kCostLimits;

constexpr Field field(Place<int> place, Whole range) { return IntegerField{place, range.low, range.high}; }
constexpr Field field(Place<double> place, Range range) { return NumberField{place, range}; }
constexpr Field field(Place<bool> place, Either /*range*/) { return FlagField{place}; }
constexpr Field field(Place<std::vector<int>> place, Layers /*range*/) { return WidthsField{place}; }
constexpr Field field(Place<std::vector<std::string>> place, TaskCosts /*range*/) { return CostsField{place}; }
constexpr Field field(Place<std::vector<double>> place, CostLimits /*range*/) { return LimitsField{place}; }

// A value of an enumeration, and how it is written.
template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

// `Find` is the type of a lambda that finds the member in settings.
template <const auto& kWords, class Find>
constexpr Field choice(Find /*find*/) {
  return ChoiceField{.count = std::size(kWords),
                     .word = [](std::size_t i) { return kWords[i].text; },
                     .read =
                         [](const Settings& settings) {
                           const auto value = Find{}(settings);
                           const auto found = std::find_if(std::begin(kWords), std::end(kWords),
                                                           [&](const auto& word) { return word.value == value; });
                           return static_cast<std::size_t>(found - std::begin(kWords));
                         },
                     .write = [](Settings& settings, std::size_t i) { Find{}(settings) = kWords[i].value; }};
}

constexpr Word<CriticTargets> kCriticTargets[] = {{"window", CriticTargets::kWindow},
                                                  {"episode", CriticTargets::kEpisode}};
constexpr Word<RadiusTest> kRadiusTests[] = {{"paper", RadiusTest::kPaper},
                                             {"one-sided", RadiusTest::kOneSided},
                                             {"paired", RadiusTest::kPaired},
                                             {"fixed", RadiusTest::kFixed}};
constexpr Word<RadiusMetric> kRadiusMetrics[] = {{"euclid", RadiusMetric::kEuclid}, {"action", RadiusMetric::kAction}};
constexpr Word<GradientSource> kGradientSources[] = {
    {"shac", GradientSource::kShac}, {"bptt", GradientSource::kBptt}, {"zobg", GradientSource::kZobg}};
constexpr Word<ZobgBaseline> kZobgBaselines[] = {{"none", ZobgBaseline::kNone}, {"step", ZobgBaseline::kStep}};
constexpr Word<GradientCorrection> kGradientCorrections[] = {
    {"none", GradientCorrection::kNone}, {"ends", GradientCorrection::kEnds}, {"all", GradientCorrection::kAll}};
constexpr Word<AdvantageScale> kAdvantageScales[] = {
    {"shared", AdvantageScale::kShared}, {"reward", AdvantageScale::kReward}, {"raw", AdvantageScale::kRaw}};
constexpr Word<DualOptimiser> kDualOptimisers[] = {{"plain", DualOptimiser::kPlain}, {"adam", DualOptimiser::kAdam}};
constexpr Word<PdoStep> kPdoSteps[] = {
    {"clipped", PdoStep::kClipped}, {"weighted", PdoStep::kWeighted}, {"natural", PdoStep::kNatural}};
constexpr Word<CpoKappa> kCpoKappas[] = {
    {"horizon", CpoKappa::kHorizon}, {"discount", CpoKappa::kDiscount}, {"one", CpoKappa::kOne}};
constexpr Word<WorldStates> kWorldStates[] = {{"real", WorldStates::kReal}, {"model", WorldStates::kModel}};
constexpr Word<Backend> kBackends[] = {
    {"best", Backend::kBest},
#define CGPO_BACKEND(id, word, ...) {word, Backend::id},
#include "cgpo/kernel/backends.def"
};

// clang-format off
// The member's name is the key.
#define CGPO_SETTING(member, range, meaning)                                                          \
  Key{#member,                                                                                        \
      field(Place<decltype(Settings{}.member)>{[](Settings& s) -> auto& { return s.member; },         \
                                               [](const Settings& s) -> auto& { return s.member; }}, \
            range),                                                                                   \
      meaning}
#define CGPO_CHOICE(member, words, meaning) \
  Key{#member, choice<words>([](auto& s) -> auto& { return s.member; }), meaning}

constexpr Key kTable[] = {
    CGPO_SETTING(iterations, whole(1, 1'000'000), "updates of the policy"),
    CGPO_SETTING(environments, whole(1, 1 << 20), "episodes that an iteration collects; with batch.adaptive at most"),
    CGPO_SETTING(horizon, whole(0, 1'000'000), "steps of an episode; 0: the task's own"),
    CGPO_SETTING(window, whole(1, 1'000'000), "steps through which a gradient runs before a critic takes over"),
    CGPO_SETTING(costs, kTaskCosts, "costs that are constraints; an empty list: the task's standard ones"),
    CGPO_SETTING(limits, kCostLimits, "upper bound of each cost's expected sum over an episode; an empty list: the task's own"),
    CGPO_SETTING(snapshots, whole(0, 1000), "policies kept for the replay, evenly from the first to the last; 0: none"),
    CGPO_SETTING(discount, from_below(0.0, 1.0), "weight of the next step's value where the horizon is not taken as finite"),
    CGPO_SETTING(finite_horizon, kEither,
                 "whether sums have no discount and end at the horizon; false: discounted, and bootstrapped there by critics that do "
                 "not know the time"),

    CGPO_SETTING(batch.adaptive, kEither,
                 "whether an iteration takes only as many episodes as J and gradients ask for; false: always `environments`"),
    CGPO_SETTING(batch.smallest, whole(1, 1 << 20), "episodes that the first iteration collects, and every one at least"),
    CGPO_SETTING(batch.signal, from_below(0.0, 1.0),
                 "share of the return's gradient, squared, that must not be noise, else more episodes are collected; 0: they do not "
                 "depend on it"),
    CGPO_SETTING(batch.precision, above_to(0.0, 1.0),
                 "share of a limit that the margin below it should not exceed, else more episodes are collected near it"),
    CGPO_SETTING(batch.deployed, closed(0.0, 1.0),
                 "episodes without noise, as a share of those with, that tell how the policy does that is deployed; 0: none"),

    CGPO_SETTING(policy.hidden, kLayers, "widths of the policy's layers"),
    CGPO_SETTING(policy.initial_std, above_to(0.0, 10.0), "standard deviation of the first actions' noise, before squashing"),
    CGPO_SETTING(policy.learn_std, kEither, "whether the noise is learned too"),
    CGPO_SETTING(policy.last_layer_scale, closed(0.0, 10.0),
                 "factor on the last layer's first weights; a small one makes the first actions nearly zero"),
    CGPO_SETTING(policy.settle, above_to(0.0, 1.0),
                 "factor on the noise in an iteration in which the policy makes no progress, as long as noise changes J; 1: it stays"),
    CGPO_SETTING(policy.least_std, above(0.0), "standard deviation below which policy.settle does not lower the noise"),

    CGPO_SETTING(critic.hidden, kLayers, "widths of each critic's layers"),
    CGPO_SETTING(critic.learning_rate, above_to(0.0, 1.0), "learning rate of Adam on the critics"),
    CGPO_SETTING(critic.steps, whole(0, 1'000'000), "steps of Adam on each critic, an iteration, at most"),
    CGPO_SETTING(critic.passes, above(0.0), "passes over as many samples as an iteration brings that its steps of Adam make, at most"),
    CGPO_SETTING(critic.memory, whole(0, 1 << 20),
                 "episodes that critics are fitted to, those of earlier iterations included; 0: those of this one"),
    CGPO_SETTING(critic.batch, whole(1, 1 << 24), "samples in a step of Adam on a critic"),
    CGPO_SETTING(critic.lambda, closed(0.0, 1.0), "mix of short returns (0) and long ones (1) in the critics' targets"),
    CGPO_CHOICE(critic.targets, kCriticTargets, "end of a target's return: that of its window, or that of its episode"),
    CGPO_SETTING(critic.sobolev, at_least(0.0),
                 "weight of the error of the critics' slopes, taken from the gradient's sweep; 0: values only"),
    CGPO_SETTING(critic.fit_first, kEither,
                 "whether critics are fitted before the same iteration's gradient is taken; false: after the update, as the paper "
                 "prints it"),

    CGPO_SETTING(radius.initial, above(0.0), "first radius of the trust region, a bound on the squared length of a step"),
    CGPO_SETTING(radius.lower, above(0.0), "smallest radius"),
    CGPO_SETTING(radius.upper, above(0.0), "largest radius"),
    CGPO_SETTING(radius.shrink, open(0.0, 1.0), "factor on the radius after a step that did not do as predicted"),
    CGPO_SETTING(radius.grow, above(1.0), "factor on the radius after a step that did as predicted"),
    CGPO_SETTING(radius.eta_low, open(0.0, 1.0), "share of the prediction below which the radius shrinks"),
    CGPO_SETTING(radius.eta_high, open(0.0, 1.0), "share of the prediction from which on the radius grows"),
    CGPO_CHOICE(radius.test, kRadiusTests,
                "rule by which the radius follows the predictions: the paper's, one that minds only what came out worse, one on the "
                "same start states and noise for the price of a second rollout, or none"),
    CGPO_CHOICE(radius.metric, kRadiusMetrics, "measure of a step's length: parameters, or what the policy does"),
    CGPO_SETTING(radius.damping, above(0.0), "share of plain length in the action metric, in units of its mean diagonal"),
    CGPO_SETTING(radius.rows, whole(1, 1 << 14), "states times actions at which the action metric is taken"),
    CGPO_SETTING(radius.debias, kEither, "whether the gradients' sampling noise is taken out of the predictions"),
    CGPO_SETTING(radius.confidence, zero_or_from_below(0.5, 1.0),
                 "probability with which an update keeps the limits, with noise and without, as J_C over all iterations tells; 0: costs "
                 "are their means over the batch, and an update aims at the limit itself"),
    CGPO_SETTING(radius.margin, closed(0.0, 1.0),
                 "share of a limit (of 1, if it is smaller) by which an update aims lower still"),
    CGPO_SETTING(radius.retreat, at_least(0.0),
                 "multiple of the predicted change by which a step misses its prediction when it is taken back; 0: never"),
    CGPO_SETTING(radius.certainty, closed(0.0, 100.0),
                 "standard errors of the return by which a change of the radius must be called for; the paper's test needs none"),
    CGPO_SETTING(radius.sidestep, kEither, "whether a broken constraint leaves room for a step along it"),
    CGPO_SETTING(radius.cutoff, closed(0.0, 1.0),
                 "share of the reward's gradient along the constraint below which no step is taken there"),

    CGPO_CHOICE(gradient.source, kGradientSources,
                "source of the gradients: windows and critics, whole episodes, or the score function"),
    CGPO_CHOICE(gradient.baseline, kZobgBaselines, "baseline that zobg subtracts from its returns"),
    CGPO_SETTING(gradient.discount, above_to(0.0, 1.0),
                 "weight of what follows a step in shac's and bptt's gradients, where the horizon is finite; below 1 the noise of far "
                 "effects stays out, J and limits are plain sums all the same"),
    CGPO_CHOICE(gradient.correction, kGradientCorrections,
                "when scores put right what cgpo's shac gradients miss, as far as that is more than noise: never, where "
                "an episode of the batch ended early, or always"),

    CGPO_SETTING(update.learning_rate, above_to(0.0, 1.0), "learning rate of Adam on the policy"),
    CGPO_SETTING(update.anneal, kEither, "whether the policy's learning rate falls to 0 over the iterations"),
    CGPO_SETTING(update.passes, whole(1, 10'000), "passes over the batch, an iteration"),
    CGPO_SETTING(update.batch, whole(1, 1 << 24), "samples in a step of Adam on the policy"),
    CGPO_SETTING(update.clip, open(0.0, 1.0), "distance from 1 up to which a probability ratio counts"),
    CGPO_SETTING(update.kl, above(0.0), "divergence from the policy that acted, at which an update ends"),
    CGPO_SETTING(update.entropy, at_least(0.0), "weight of the policy's entropy, before squashing, in the objective"),
    CGPO_SETTING(update.max_norm, at_least(0.0), "length to which longer gradients of the policy are cut; 0: never"),
    CGPO_CHOICE(update.advantages, kAdvantageScales,
                "advantages that are divided by the deviation of the reward's: all, the reward's alone, or none"),
    CGPO_SETTING(update.damping, at_least(0.0), "number added to the diagonal of the Fisher matrix"),
    CGPO_SETTING(update.states, whole(1, 1 << 24), "samples at which the Fisher matrix is taken"),
    CGPO_SETTING(update.conjugate, whole(1, 10'000), "steps of conjugate gradients"),
    CGPO_SETTING(update.backtracks, whole(1, 1000), "tries of the line search, each 0.8 of the one before"),

    CGPO_CHOICE(dual.optimiser, kDualOptimisers, "rule by which multipliers follow the violations"),
    CGPO_SETTING(dual.learning_rate, above(0.0), "learning rate of the multipliers, on violations a step of the episode"),
    CGPO_SETTING(dual.initial, at_least(0.0), "first value of every multiplier"),
    CGPO_SETTING(dual.upper, above(0.0), "largest value of a multiplier"),
    CGPO_SETTING(dual.penalty, at_least(0.0), "weight of appo's squared violation, in units of the multipliers' learning rate"),
    CGPO_SETTING(dual.penalty_growth, at_least(0.0), "share by which appo's penalty grows while violations do not shrink"),
    CGPO_SETTING(dual.penalty_upper, above(0.0), "largest penalty of appo, in units of the multipliers' learning rate"),

    CGPO_SETTING(twin.first, from_below(0.0, 1.0),
                 "share of the iterations that are done first, on our own engine, where task.engine = \"mujoco\"; its verdicts do "
                 "not count"),
    CGPO_SETTING(twin.smallest, whole(1, 1 << 20),
                 "least number of an iteration's episodes where gradients are those of a twin, as batch.smallest elsewhere"),
    CGPO_SETTING(twin.prior, at_least(0.0),
                 "how much a fitted twin is held to what twin.* says: mean square error that a change of a number by a factor e "
                 "must make good"),

    CGPO_SETTING(bptt.window, whole(0, 1'000'000),
                 "steps through which bptt-lag's gradient runs before it is cut off; 0: the whole episode"),
    CGPO_SETTING(focops.temperature, above(0.0),
                 "price of a unit of divergence from the policy that acted, in focops's loss, in deviations of the reward's advantage"),
    CGPO_SETTING(pid.proportional, at_least(0.0),
                 "gain of ppo-pid on the violation itself, in units of the multipliers' learning rate"),
    CGPO_SETTING(pid.integral, at_least(0.0),
                 "gain of ppo-pid on the sum of the violations so far, in units of the multipliers' learning rate"),
    CGPO_SETTING(pid.derivative, at_least(0.0),
                 "gain of ppo-pid on the rise of a cost in pid.delay iterations, in units of the multipliers' learning rate"),
    CGPO_SETTING(pid.proportional_memory, from_below(0.0, 1.0),
                 "weight of the past in the running mean of the violation that pid.proportional acts on; 0: this iteration's alone"),
    CGPO_SETTING(pid.derivative_memory, from_below(0.0, 1.0),
                 "weight of the past in the running mean of the cost whose rise pid.derivative acts on; 0: this iteration's alone"),
    CGPO_SETTING(pid.delay, whole(1, 10'000), "iterations over which ppo-pid takes the rise of a cost"),
    CGPO_SETTING(pid.normalise, kEither,
                 "whether ppo-pid's objective is divided by 1 plus the sum of the multipliers, so that its size does not grow with them"),
    CGPO_CHOICE(pdo.step, kPdoSteps,
                "policy step of pdo: clipped surrogates, plain importance weights, or a natural gradient"),
    CGPO_CHOICE(cpo.kappa, kCpoKappas,
                "factor of cpo from the mean of a cost's advantages to a change of its sum: T, 1/(1 - discount) or 1"),

    CGPO_CHOICE(world.states, kWorldStates,
                "states at which mb-cgpo takes its model's derivatives: those of real episodes, or of windows that it predicts"),
    CGPO_SETTING(world.correction, kEither,
                 "whether mb-cgpo takes gradients through single steps of the model, and by the score function what it missed of the "
                 "real episodes, so that its errors cancel; world.states does not matter then"),
    CGPO_SETTING(world.hidden, kLayers, "widths of the model's layers"),
    CGPO_SETTING(world.first_scale, closed(0.01, 100.0),
                 "factor on the first weights of the model's first layer; above 1, sharp bends are learned sooner"),
    CGPO_SETTING(world.members, whole(1, 64), "networks whose mean is the model"),
    CGPO_SETTING(world.minibatches, whole(0, 1'000'000), "steps of Adam on each network of the model, an iteration, at most"),
    CGPO_SETTING(world.first_fit, whole(1, 1000), "factor on world.minibatches in the first iteration"),
    CGPO_SETTING(world.batch, whole(1, 1 << 20), "transitions in a step of Adam on the model"),
    CGPO_SETTING(world.learning_rate, above_to(0.0, 1.0), "learning rate of Adam when a fit of the model begins"),
    CGPO_SETTING(world.held_out, closed(0.0, 0.5), "share of the episodes that the model is not fitted to"),
    CGPO_SETTING(world.check_every, whole(1, 1'000'000), "steps of Adam between two looks at the held-out error"),
    CGPO_SETTING(world.patience, whole(1, 1'000'000), "looks without a better error after which a fit ends"),
    CGPO_SETTING(world.buffer, whole(1, 1 << 28), "transitions that are kept, the newest"),

    CGPO_CHOICE(kernel.backend, kBackends,
                "backend that runs the simulation; best: the fastest that this CPU has; results are the same bits"),
    CGPO_SETTING(kernel.block, whole(1, 1 << 20), "environments a thread takes at a time; part of the result's bits"),
};
// clang-format on

#undef CGPO_SETTING
#undef CGPO_CHOICE

}  // namespace

std::span<const Key> settings_keys() { return kTable; }

}  // namespace cgpo
