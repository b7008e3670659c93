#include "cgpo/config/keys.hpp"

#include <cmath>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

UserError not_allowed(const std::string& name, const std::string& allowed, const Value& value) {
  return UserError("{} must be {}, not {}", name, allowed, format_value(value));
}

struct Range {
  double low = -kInfinity;
  double high = kInfinity;
  bool low_open = false;  // whether the end itself is not allowed
  bool high_open = false;

  bool holds(double number) const {
    return (low_open ? number > low : number >= low) && (high_open ? number < high : number <= high);
  }
  std::string words() const {
    if (low == -kInfinity && high == kInfinity) return "";
    if (high == kInfinity) return fmt::format(" {} {}", low_open ? "above" : "of at least", low);
    if (!low_open && !high_open) return fmt::format(" from {} to {}", low, high);
    return fmt::format(" {} {} and {} {}", low_open ? "above" : "of at least", low, high_open ? "below" : "at most",
                       high);
  }
};

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

// A single value stands for a list of one.
std::vector<Value> as_list(const Value& value) {
  const auto* list = std::get_if<std::vector<Value>>(&value.data);
  return list != nullptr ? *list : std::vector<Value>{value};
}

// Each builder takes `field`, which finds the field in constant and in mutable settings.
template <class Field>
Key integer(const std::string& name, int low, int high, std::string help, Field field) {
  const std::string allowed = fmt::format("a whole number from {} to {}", low, high);
  return {name, allowed, std::move(help),
          [=](Settings& settings, const Value& value) {
            const auto* number = std::get_if<std::int64_t>(&value.data);
            if (number == nullptr || *number < low || *number > high) throw not_allowed(name, allowed, value);
            field(settings) = static_cast<int>(*number);
          },
          [=](const Settings& settings) { return Value{std::int64_t{field(settings)}}; }};
}

template <class Field>
Key number(const std::string& name, Range range, std::string help, Field field) {
  const std::string allowed = "a number" + range.words();
  return {name, allowed, std::move(help),
          [=](Settings& settings, const Value& value) {
            const std::optional<double> found = as_number(value);
            if (!found || !std::isfinite(*found) || !range.holds(*found)) throw not_allowed(name, allowed, value);
            field(settings) = *found;
          },
          [=](const Settings& settings) { return Value{double{field(settings)}}; }};
}

template <class Field>
Key flag(const std::string& name, std::string help, Field field) {
  const std::string allowed = "true or false";
  return {name, allowed, std::move(help),
          [=](Settings& settings, const Value& value) {
            const auto* found = std::get_if<bool>(&value.data);
            if (found == nullptr) throw not_allowed(name, allowed, value);
            field(settings) = *found;
          },
          [=](const Settings& settings) { return Value{bool{field(settings)}}; }};
}

template <class Enum, class Field>
Key choice(const std::string& name, const std::vector<std::pair<std::string, Enum>>& words, std::string help,
           Field field) {
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const auto& [word, ignored] : words) names.push_back(word);
  const std::string allowed =
      names.size() == 1 ? fmt::format("\"{}\"", names[0]) : fmt::format("one of \"{}\"", fmt::join(names, "\", \""));
  return {name, allowed, std::move(help),
          [=](Settings& settings, const Value& value) {
            const auto* text = std::get_if<std::string>(&value.data);
            for (const auto& [word, meaning] : words) {
              if (text != nullptr && *text == word) {
                field(settings) = meaning;
                return;
              }
            }
            throw UserError("{} must be {}, not {}{}", name, allowed, format_value(value),
                            text == nullptr ? std::string() : did_you_mean(*text, names));
          },
          [=](const Settings& settings) {
            for (const auto& [word, meaning] : words) {
              if (meaning == field(settings)) return Value{word};
            }
            throw std::logic_error("a setting has a value without a name: " + name);
          }};
}

template <class Field>
Key layers(const std::string& name, std::string help, Field field) {
  const std::string allowed = "a list of 1 to 8 whole numbers from 1 to 4096";
  return {name, allowed, std::move(help),
          [=](Settings& settings, const Value& value) {
            std::vector<int> widths;
            for (const Value& item : as_list(value)) {
              const auto* width = std::get_if<std::int64_t>(&item.data);
              if (width == nullptr || *width < 1 || *width > 4096) throw not_allowed(name, allowed, value);
              widths.push_back(static_cast<int>(*width));
            }
            if (widths.empty() || widths.size() > 8) throw not_allowed(name, allowed, value);
            field(settings) = std::move(widths);
          },
          [=](const Settings& settings) {
            std::vector<Value> items;
            for (const int width : field(settings)) items.push_back({std::int64_t{width}});
            return Value{std::move(items)};
          }};
}

Key costs_key() {
  const std::string allowed = "a list of names of the task's costs";
  return {"costs", allowed, "which costs are constraints; an empty list: the task's standard ones",
          [=](Settings& settings, const Value& value) {
            std::vector<std::string> names;
            for (const Value& item : as_list(value)) {
              const auto* name = std::get_if<std::string>(&item.data);
              if (name == nullptr) throw not_allowed("costs", allowed, value);
              names.push_back(*name);
            }
            settings.costs = std::move(names);
          },
          [](const Settings& settings) {
            std::vector<Value> items;
            for (const std::string& name : settings.costs) items.push_back({name});
            return Value{std::move(items)};
          }};
}

Key limits_key() {
  const std::string allowed = "a list of numbers, one a cost, where inf means no limit";
  return {"limits", allowed, "upper bound of each cost's expected sum over an episode; an empty list: the task's own",
          [=](Settings& settings, const Value& value) {
            std::vector<double> limits;
            for (const Value& item : as_list(value)) {
              const std::optional<double> limit = as_number(item);
              if (!limit || std::isnan(*limit) || *limit == -kInfinity) throw not_allowed("limits", allowed, value);
              limits.push_back(*limit);
            }
            settings.limits = std::move(limits);
          },
          [](const Settings& settings) {
            std::vector<Value> items;
            for (const double limit : settings.limits) items.push_back({limit});
            return Value{std::move(items)};
          }};
}

std::vector<std::pair<std::string, Backend>> backend_words() {
  std::vector<std::pair<std::string, Backend>> words = {{std::string(backend_name(Backend::kBest)), Backend::kBest}};
  for (const Backend backend : known_backends()) words.emplace_back(backend_name(backend), backend);
  return words;
}

#define CGPO_FIELD(path) ([](auto& settings) -> auto& { return settings.path; })

constexpr Range kPositive{.low = 0.0, .low_open = true};
constexpr Range kOpenUnit{.low = 0.0, .high = 1.0, .low_open = true, .high_open = true};

std::vector<Key> make_keys() {
  return {
      integer("iterations", 1, 1'000'000, "updates of the policy", CGPO_FIELD(iterations)),
      integer("environments", 1, 1 << 20, "episodes an iteration", CGPO_FIELD(environments)),
      integer("horizon", 0, 1'000'000, "steps of an episode; 0: the task's own", CGPO_FIELD(horizon)),
      integer("window", 1, 1'000'000, "steps through which a gradient runs before a critic takes over",
              CGPO_FIELD(window)),
      costs_key(),
      limits_key(),
      integer("snapshots", 0, 1000, "policies kept for the replay, evenly from the first to the last; 0: none",
              CGPO_FIELD(snapshots)),
      number("discount", {.low = 0.0, .high = 1.0, .high_open = true},
             "weight of the next step's value where the horizon is not taken as finite", CGPO_FIELD(discount)),
      flag("finite_horizon",
           "learn from sums without discount that end at the horizon; false: discounted, and bootstrapped there by "
           "critics that do not know the time",
           CGPO_FIELD(finite_horizon)),

      layers("policy.hidden", "widths of the policy's layers", CGPO_FIELD(policy.hidden)),
      number("policy.initial_std", {.low = 0.0, .high = 10.0, .low_open = true},
             "noise of the first actions, before squashing", CGPO_FIELD(policy.initial_std)),
      flag("policy.learn_std", "whether the noise is learned too", CGPO_FIELD(policy.learn_std)),
      number("policy.last_layer_scale", {.low = 0.0, .high = 10.0}, "factor on the last layer's first weights",
             CGPO_FIELD(policy.last_layer_scale)),

      layers("critic.hidden", "widths of each critic's layers", CGPO_FIELD(critic.hidden)),
      number("critic.learning_rate", {.low = 0.0, .high = 1.0, .low_open = true}, "of Adam",
             CGPO_FIELD(critic.learning_rate)),
      integer("critic.steps", 0, 1'000'000, "steps of Adam an iteration", CGPO_FIELD(critic.steps)),
      integer("critic.batch", 1, 1 << 24, "samples a step of Adam", CGPO_FIELD(critic.batch)),
      number("critic.lambda", {.low = 0.0, .high = 1.0}, "mixes short and long returns in the critics' targets",
             CGPO_FIELD(critic.lambda)),
      choice<CriticTargets>("critic.targets",
                            {{"window", CriticTargets::kWindow}, {"episode", CriticTargets::kEpisode}},
                            "how far a target's return runs", CGPO_FIELD(critic.targets)),
      number("critic.sobolev", {.low = 0.0},
             "weight of the error of the critics' slopes, taken from the gradient's sweep", CGPO_FIELD(critic.sobolev)),
      flag("critic.fit_first", "fit the critics before the same iteration's gradient is taken",
           CGPO_FIELD(critic.fit_first)),

      number("radius.initial", kPositive, "bound on the squared length of the first step", CGPO_FIELD(radius.initial)),
      number("radius.lower", kPositive, "the radius never shrinks below this", CGPO_FIELD(radius.lower)),
      number("radius.upper", kPositive, "the radius never grows beyond this", CGPO_FIELD(radius.upper)),
      number("radius.shrink", kOpenUnit, "factor after a step that did not do as predicted", CGPO_FIELD(radius.shrink)),
      number("radius.grow", {.low = 1.0, .low_open = true}, "factor after a step that did", CGPO_FIELD(radius.grow)),
      number("radius.eta_low", kOpenUnit, "share of the prediction below which the radius shrinks",
             CGPO_FIELD(radius.eta_low)),
      number("radius.eta_high", kOpenUnit, "share of the prediction from which on it grows",
             CGPO_FIELD(radius.eta_high)),
      choice<RadiusTest>("radius.test",
                         {{"paper", RadiusTest::kPaper},
                          {"one-sided", RadiusTest::kOneSided},
                          {"paired", RadiusTest::kPaired},
                          {"fixed", RadiusTest::kFixed}},
                         "how the radius follows the predictions", CGPO_FIELD(radius.test)),
      choice<RadiusMetric>("radius.metric", {{"euclid", RadiusMetric::kEuclid}, {"action", RadiusMetric::kAction}},
                           "in what a step's length is measured: parameters, or what the policy does",
                           CGPO_FIELD(radius.metric)),
      number("radius.damping", kPositive, "share of plain length in the action metric, in units of its mean diagonal",
             CGPO_FIELD(radius.damping)),
      integer("radius.rows", 1, 1 << 14, "states times actions at which the action metric is taken",
              CGPO_FIELD(radius.rows)),
      flag("radius.debias", "take the gradients' sampling noise out of the predictions", CGPO_FIELD(radius.debias)),
      number("radius.margin", {.low = 0.0, .high = 1.0},
             "aim below each limit by this share of it (of 1, if it is smaller)", CGPO_FIELD(radius.margin)),
      number("radius.margin_se", {.low = 0.0, .high = 100.0}, "and by this many standard errors of the cost",
             CGPO_FIELD(radius.margin_se)),
      number("radius.margin_miss", {.low = 0.0, .high = 100.0},
             "and by this many times what the cost came out above its prediction lately, on average",
             CGPO_FIELD(radius.margin_miss)),
      number("radius.chance_se", {.low = 0.0, .high = 100.0},
             "a cost above its aim is judged against its margin, or this many of its standard errors if that is more",
             CGPO_FIELD(radius.chance_se)),
      number("radius.retreat", {.low = 0.0},
             "a step that misses its prediction by this many times the predicted change is taken back; 0: never",
             CGPO_FIELD(radius.retreat)),
      number("radius.certainty", {.low = 0.0, .high = 100.0},
             "standard errors of the return by which a change of the radius must be called for; paper's test: none",
             CGPO_FIELD(radius.certainty)),
      flag("radius.sidestep", "whether a broken constraint leaves room for a step along it",
           CGPO_FIELD(radius.sidestep)),
      number("radius.cutoff", {.low = 0.0, .high = 1.0},
             "reward and cost gradients this parallel leave no step along the constraint", CGPO_FIELD(radius.cutoff)),

      choice<GradientSource>(
          "gradient.source",
          {{"shac", GradientSource::kShac}, {"bptt", GradientSource::kBptt}, {"zobg", GradientSource::kZobg}},
          "where gradients come from: windows and critics, whole episodes, or the score function",
          CGPO_FIELD(gradient.source)),
      choice<ZobgBaseline>("gradient.baseline", {{"none", ZobgBaseline::kNone}, {"step", ZobgBaseline::kStep}},
                           "what zobg subtracts from its returns", CGPO_FIELD(gradient.baseline)),
      number("gradient.discount", {.low = 0.0, .high = 1.0, .low_open = true},
             "shac, bptt: weight of what follows a step, where the horizon is finite; below 1 the noise of far effects "
             "stays out, J and limits are plain sums all the same",
             CGPO_FIELD(gradient.discount)),

      number("update.learning_rate", {.low = 0.0, .high = 1.0, .low_open = true}, "of Adam on the policy",
             CGPO_FIELD(update.learning_rate)),
      flag("update.anneal", "let the policy's learning rate fall to 0 over the iterations", CGPO_FIELD(update.anneal)),
      integer("update.passes", 1, 10'000, "passes over the batch, an iteration", CGPO_FIELD(update.passes)),
      integer("update.batch", 1, 1 << 24, "samples a step of Adam on the policy", CGPO_FIELD(update.batch)),
      number("update.clip", kOpenUnit, "how far a probability ratio counts, from 1", CGPO_FIELD(update.clip)),
      number("update.kl", kPositive, "divergence from the policy that acted, at which an update ends",
             CGPO_FIELD(update.kl)),
      number("update.entropy", {.low = 0.0}, "weight of the policy's entropy in the objective",
             CGPO_FIELD(update.entropy)),
      number("update.max_norm", {.low = 0.0}, "longer gradients of the policy are cut to this length; 0: never",
             CGPO_FIELD(update.max_norm)),
      choice<AdvantageScale>(
          "update.advantages",
          {{"shared", AdvantageScale::kShared}, {"reward", AdvantageScale::kReward}, {"raw", AdvantageScale::kRaw}},
          "what is divided by the deviation of the reward's advantages: all, those alone, nothing",
          CGPO_FIELD(update.advantages)),
      number("update.damping", {.low = 0.0}, "added to the Fisher matrix", CGPO_FIELD(update.damping)),
      integer("update.states", 1, 1 << 24, "samples at which the Fisher matrix is taken", CGPO_FIELD(update.states)),
      integer("update.conjugate", 1, 10'000, "steps of conjugate gradients", CGPO_FIELD(update.conjugate)),
      integer("update.backtracks", 1, 1000, "tries of the line search", CGPO_FIELD(update.backtracks)),

      choice<DualOptimiser>("dual.optimiser", {{"plain", DualOptimiser::kPlain}, {"adam", DualOptimiser::kAdam}},
                            "how multipliers follow the violations", CGPO_FIELD(dual.optimiser)),
      number("dual.learning_rate", kPositive, "of the multipliers, on violations a step of the episode",
             CGPO_FIELD(dual.learning_rate)),
      number("dual.initial", {.low = 0.0}, "first value of every multiplier", CGPO_FIELD(dual.initial)),
      number("dual.upper", kPositive, "no multiplier grows beyond this", CGPO_FIELD(dual.upper)),
      number("dual.penalty", {.low = 0.0},
             "weight of the squared violation, in units of the multipliers' learning rate", CGPO_FIELD(dual.penalty)),
      number("dual.penalty_growth", {.low = 0.0}, "share by which it grows while violations do not shrink",
             CGPO_FIELD(dual.penalty_growth)),
      number("dual.penalty_upper", kPositive, "it never grows beyond this", CGPO_FIELD(dual.penalty_upper)),

      integer("bptt.window", 0, 1'000'000,
              "bptt-lag: steps through which a gradient runs before it is cut off; 0: the whole episode",
              CGPO_FIELD(bptt_window)),
      choice<PdoStep>(
          "pdo.step",
          {{"clipped", PdoStep::kClipped}, {"weighted", PdoStep::kWeighted}, {"natural", PdoStep::kNatural}},
          "pdo's policy step: clipped surrogates, plain importance weights, or a natural gradient",
          CGPO_FIELD(pdo_step)),
      choice<CpoKappa>("cpo.kappa",
                       {{"horizon", CpoKappa::kHorizon}, {"discount", CpoKappa::kDiscount}, {"one", CpoKappa::kOne}},
                       "cpo: from the mean of a cost's advantages to a change of its sum: T, 1/(1 - discount) or 1",
                       CGPO_FIELD(cpo_kappa)),

      choice<WorldStates>(
          "world.states", {{"real", WorldStates::kReal}, {"model", WorldStates::kModel}},
          "mb-cgpo: take the model's derivatives along real episodes, or along windows that it predicts",
          CGPO_FIELD(world.states)),
      flag("world.correction",
           "mb-cgpo: gradients through single steps of the model, and by the score function what it missed of the real "
           "episodes, so that its errors cancel; world.states does not matter then",
           CGPO_FIELD(world.correction)),
      layers("world.hidden", "mb-cgpo: widths of the model's layers", CGPO_FIELD(world.hidden)),
      number("world.first_scale", {.low = 0.01, .high = 100.0},
             "factor on the first layer's first weights; above 1, sharp bends are learned sooner",
             CGPO_FIELD(world.first_scale)),
      integer("world.members", 1, 64, "networks whose mean is the model", CGPO_FIELD(world.members)),
      integer("world.minibatches", 0, 1'000'000, "steps of Adam an iteration and network, at most",
              CGPO_FIELD(world.minibatches)),
      integer("world.first_fit", 1, 1000, "times as many in the first iteration", CGPO_FIELD(world.first_fit)),
      integer("world.batch", 1, 1 << 20, "transitions a step of Adam", CGPO_FIELD(world.batch)),
      number("world.learning_rate", {.low = 0.0, .high = 1.0, .low_open = true}, "of Adam when a fit begins",
             CGPO_FIELD(world.learning_rate)),
      number("world.held_out", {.low = 0.0, .high = 0.5}, "share of the episodes that the model is not fitted to",
             CGPO_FIELD(world.held_out)),
      integer("world.check_every", 1, 1'000'000, "steps of Adam between two looks at the held-out error",
              CGPO_FIELD(world.check_every)),
      integer("world.patience", 1, 1'000'000, "looks without a better error after which a fit ends",
              CGPO_FIELD(world.patience)),
      integer("world.buffer", 1, 1 << 28, "transitions that are kept, the newest", CGPO_FIELD(world.buffer)),

      choice<Backend>("kernel.backend", backend_words(),
                      "what runs the simulation; best: the fastest that this CPU has; results are the same bits",
                      CGPO_FIELD(kernel.backend)),
      integer("kernel.block", 1, 1 << 20, "environments a thread takes at a time; part of the result's bits",
              CGPO_FIELD(kernel.block)),
  };
}

#undef CGPO_FIELD

}  // namespace

const std::vector<Key>& settings_keys() {
  static const std::vector<Key> keys = make_keys();
  return keys;
}

std::string section_of(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? std::string() : key.substr(0, dot);
}

const std::vector<std::pair<std::string, std::string>>& preset_assignments(const std::string& preset) {
  using Assignments = std::vector<std::pair<std::string, std::string>>;
  // The defaults of settings.hpp are this project's choice.
  static const Assignments best = {};
  // The letter of the paper, where that differs from the defaults or may come to differ.
  static const Assignments paper = {
      {"window", "10"},
      {"critic.hidden", "[64, 64]"},
      {"critic.learning_rate", "1e-3"},
      {"critic.batch", "64"},
      {"critic.steps", "600"},  // a pass over 128 episodes of 300 steps
      {"critic.targets", "\"window\""},
      {"critic.fit_first", "false"},
      {"critic.sobolev", "0.0"},
      {"radius.initial", "1e-3"},
      {"radius.lower", "1e-4"},
      {"radius.upper", "1e-2"},
      {"radius.shrink", "0.8"},
      {"radius.grow", "1.25"},
      {"radius.test", "\"paper\""},
      {"radius.metric", "\"euclid\""},
      {"radius.debias", "false"},
      {"radius.margin", "0.0"},
      {"radius.margin_se", "0.0"},
      {"radius.margin_miss", "0.0"},
      {"radius.retreat", "0.0"},
      {"radius.sidestep", "true"},
      {"radius.cutoff", "0.0"},
      {"gradient.source", "\"shac\""},
      {"gradient.discount", "1.0"},
      {"world.states", "\"model\""},
      {"world.correction", "false"},
  };
  if (preset == "best") return best;
  if (preset == "paper") return paper;
  throw UserError("unknown preset '{}'{}; there are: best, paper", preset, did_you_mean(preset, {"best", "paper"}));
}

}  // namespace cgpo
