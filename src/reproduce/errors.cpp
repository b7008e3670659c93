// The paper's figure on estimation errors: GBE and ABE across four stages of training.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <span>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/reproduce/parts.hpp"
#include "cgpo/studies/estimation_errors.hpp"
#include "cgpo/studies/stages.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr double kLength = 0.01;                    // ‖δ‖ of every update
const std::vector<int> kStages = {5, 25, 50, 100};  // updates
// σ of the policy: little, as gradients through the simulator like it, and much, as score functions do.
const std::vector<double> kNoises = {0.1, 0.5};

// Plain CGPO with a ball of fixed radius: the paper updates its policies by steps of one length here.
std::vector<std::string> plain_steps(double noise) {
  return {fmt::format("iterations={}", kStages.back()),
          fmt::format("policy.initial_std={}", noise),
          "policy.learn_std=false",
          "radius.test=fixed",
          fmt::format("radius.initial={}", kLength * kLength),
          fmt::format("radius.lower={}", kLength * kLength),
          "radius.metric=euclid",
          "radius.debias=false",
          "radius.margin=0.0",
          "radius.confidence=0.0",
          "radius.retreat=0.0",
          "radius.sidestep=true"};
}

// Those with derivatives, the paper's two first; not those that need to be told what they are.
std::vector<std::string> differentiable_tasks() {
  std::vector<std::string> tasks = {"function", "halfcheetah"};
  for (const TaskEntry& entry : task_registry()) {
    const bool listed = entry.name == tasks[0] || entry.name == tasks[1];
    if (listed || !entry.needs.empty()) continue;
    if (entry.make(TaskOptions(entry.options))->spec().differentiable) tasks.push_back(entry.name);
  }
  return tasks;
}

bool is_in_paper(const std::string& task) { return task == "function" || task == "halfcheetah"; }

struct ErrorStudy {
  std::string task;
  double noise = 0.0;
  Configuration configuration;
  EstimationOptions options;

  std::string name() const { return fmt::format("{}-{}", task, noise); }
  std::string piece(std::size_t stage) const { return fmt::format("{}-after-{}", name(), kStages[stage]); }
  fs::path checkpoint(const ReproduceContext& context, std::size_t stage) const {
    return context.folder / (piece(stage) + ".safetensors");
  }
};

ErrorStudy study_of(const std::string& task, double noise, const ReproduceContext& context) {
  ErrorStudy study{task, noise, study_configuration(context, task, plain_steps(noise)), {}};
  study.options.length = kLength;
  // The paper has two tasks; the others get fewer repetitions.
  if (!is_in_paper(task)) study.options.repetitions = 30;
  if (context.quick || task != "function") study.configuration.settings.environments = 64;
  if (context.quick) {
    study.options.repetitions = 10;
    study.options.discounted_fits = 4;
  }
  return study;
}

// A repetition, and a fit of both kinds of critics, on the untrained policy.
double measured_seconds(const ErrorStudy& study, ThreadPool& pool) {
  const AlgorithmContext context = context_of(study.configuration, pool);
  const Tensors start = training_stages(context, find_algorithm("cgpo"), {0}, no_tick).front();
  EstimationOptions options = study.options;
  options.repetitions = 1;
  const auto with_fits = [&](int fits) {
    options.window_fits = options.discounted_fits = fits;
    return seconds_of([&] { estimation_errors(context, start, options, no_tick); });
  };
  const double repetition = with_fits(0);
  const double fit = std::max(0.0, with_fits(1) - repetition) / 2.0;
  return repetition * study.options.repetitions + fit * (study.options.window_fits + study.options.discounted_fits);
}

void add_pieces(const ErrorStudy& study, const ReproduceContext& context, std::vector<Piece>& pieces) {
  pieces.push_back(
      {study.name() + "-training",
       [study, context] { return seconds_of_iteration(study.configuration, context.threads) * kStages.back(); },
       [study, context](const Tick& tick) {
         const std::vector<Tensors> stages =
             training_stages(context_of(study.configuration, *context.pool), find_algorithm("cgpo"), kStages, tick);
         for (std::size_t i = 0; i < stages.size(); ++i) write_tensors(study.checkpoint(context, i), stages[i]);
         return Json(kStages);
       }});
  const auto seconds = std::make_shared<double>(-1.0);
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    pieces.push_back({study.piece(stage),
                      [study, context, seconds] {
                        if (*seconds < 0.0) *seconds = measured_seconds(study, *context.pool);
                        return *seconds;
                      },
                      [study, context, stage](const Tick& tick) {
                        const EstimationErrors errors =
                            estimation_errors(context_of(study.configuration, *context.pool),
                                              read_tensors(study.checkpoint(context, stage)), study.options, tick);
                        Json json;
                        json["shac"] = json_of(errors.shac);
                        json["bptt"] = json_of(errors.bptt);
                        json["abe"] = json_of(errors.abe);
                        json["abe_printed"] = json_of(errors.abe_printed);
                        json["change"] = json_of(errors.change);
                        json["shac_predicted"] = json_of(errors.shac_predicted);
                        json["abe_predicted"] = json_of(errors.abe_predicted);
                        json["diverged"] = errors.diverged;
                        return json;
                      }});
  }
}

const std::vector<std::pair<std::string, std::string>> kEstimates = {
    {"shac", "GBE"}, {"bptt", "GBE, whole episodes"}, {"abe", "ABE"}, {"abe_printed", "ABE as printed"}};

// Of each estimate: mean, median, 10 and 90 % quantile.
std::string data_file(const ErrorStudy& study) { return fmt::format("errors-{}.csv", study.name()); }

std::string script_of(const std::vector<ErrorStudy>& studies) {
  const std::size_t rows = (studies.size() + 1) / 2;
  std::string text = svg_header("errors", 960, 300 * static_cast<int>(rows));
  text += fmt::format(
      "set multiplot layout {},2\nset logscale y\nset yrange [1e-3:1e3]\nset format y '%g'\nset xrange [0.6:4.4]\n"
      "set xlabel 'updates before'\nset ylabel 'relative error'\nset key below\nset bmargin 5.8\n",
      rows);
  std::string ticks;
  for (std::size_t i = 0; i < kStages.size(); ++i)
    ticks += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", kStages[i], i + 1);
  text += fmt::format("set xtics ({})\n", ticks);
  for (const ErrorStudy& study : studies) {
    text +=
        fmt::format("set title '{}, σ = {}'\nplot 1 with lines dt 2 lc rgb 'black' notitle", study.task, study.noise);
    for (std::size_t e = 0; e < kEstimates.size(); ++e) {
      const std::size_t column = 2 + 4 * e;
      text += fmt::format(
          ", \\\n  '{}' skip 1 using ($0{:+.2f}):{}:{}:{} with yerrorlines lw 1.5 pt 7 ps 0.5 lc rgb '{}' title '{}'",
          data_file(study), 1.0 + 0.06 * (static_cast<double>(e) - 1.0), column + 1, column + 2, column + 3,
          line_colours()[e], kEstimates[e].second);
    }
    text += "\n";
  }
  return text + "unset multiplot\n";
}

// A number that tasks have of their own: "64", or "128 (function), 64 (halfcheetah, ant)".
std::string by_task(const std::vector<ErrorStudy>& studies, const std::function<int(const ErrorStudy&)>& number) {
  std::vector<std::pair<int, std::vector<std::string>>> groups;
  for (const ErrorStudy& study : studies) {
    const int own = number(study);
    auto group = std::find_if(groups.begin(), groups.end(), [own](const auto& entry) { return entry.first == own; });
    if (group == groups.end()) group = groups.insert(groups.end(), {own, {}});
    std::vector<std::string>& tasks = group->second;
    if (std::find(tasks.begin(), tasks.end(), study.task) == tasks.end()) tasks.push_back(study.task);
  }
  if (groups.size() == 1) return fmt::format("{}", groups.front().first);
  std::vector<std::string> parts;
  for (const auto& [own, tasks] : groups) parts.push_back(fmt::format("{} ({})", own, fmt::join(tasks, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What came of the updates, whatever its sign, and the share of it that ABE foresaw.
Summary sizes_of(std::vector<double> changes) {
  for (double& change : changes) change = std::abs(change);
  return summary_of(changes);
}
Summary shares_of(std::vector<double> predictions, const std::vector<double>& changes) {
  for (std::size_t i = 0; i < predictions.size(); ++i) predictions[i] /= changes[i];
  return summary_of(predictions);
}

ReproductionReport report_on(const std::vector<ErrorStudy>& studies, const PieceResults& results) {
  ReproductionReport report;
  std::vector<std::vector<std::string>> rows = {{"task", "σ", "updates before", "size of the change of J_C"}};
  for (const auto& [key, title] : kEstimates) rows[0].push_back(title + ": median (mean)");
  rows[0].push_back("ABE foresees, of the change: median");
  report.results = Json::array();
  for (const ErrorStudy& study : studies) {
    std::vector<std::string> head = {"updates"};
    for (const auto& [key, title] : kEstimates) {
      for (const char* what : {"mean", "median", "low", "high"}) head.push_back(key + "_" + what);
    }
    std::vector<std::vector<double>> data;
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      const Json& piece = results.at(study.piece(stage));
      const std::vector<double> changes = numbers_of(piece["change"]);
      const Summary size = sizes_of(changes);
      const Summary share = shares_of(numbers_of(piece["abe_predicted"]), changes);
      std::vector<std::string> row = {study.task, fmt::format("{}", study.noise), fmt::format("{}", kStages[stage]),
                                      plus_minus(size)};
      Json json;
      json["task"] = study.task;
      json["noise"] = study.noise;
      json["updates"] = kStages[stage];
      data.push_back({static_cast<double>(kStages[stage])});
      for (const auto& [key, title] : kEstimates) {
        const Summary summary = summary_of(numbers_of(piece.value(key, Json::array())));
        row.push_back(fmt::format("{} ({})", short_number(summary.median), short_number(summary.mean)));
        json[key] = json_of(summary);
        data.back().insert(data.back().end(), {summary.mean, summary.median, summary.low, summary.high});
      }
      json["size"] = json_of(size);
      json["abe_share"] = json_of(share);
      for (const char* key : {"change", "shac_predicted", "abe_predicted", "diverged"})
        json[key] = piece.value(key, Json());
      row.push_back(short_number(share.median));
      report.results.push_back(json);
      rows.push_back(row);
    }
    report.data.push_back({data_file(study), csv_of(head, data)});
  }
  const EstimationOptions& options = studies.front().options;
  const auto repetitions = [](const ErrorStudy& study) { return study.options.repetitions; };
  const auto episodes = [](const ErrorStudy& study) { return study.configuration.settings.environments; };
  const auto horizon = [](const ErrorStudy& study) { return study.configuration.settings.horizon; };
  report.text = fmt::format(
      "Relative error |J_C(θ+δ) − Ĵ_C(θ+δ)| / |J_C(θ+δ) − J_C(θ)| of updates of length ‖δ‖ = {}, common random "
      "numbers, "
      "double precision. Updates: {}, each from episodes of its own: {}. The policies are those that plain CGPO has "
      "after so many updates of this length, with noise σ: one training each, seed {}. GBE is δᵀ∇J_C, from the windows "
      "closed by critics that chose the update, or from whole episodes. ABE is κ (E[ρ A_C] − E[A_C]), κ = 1/(1−γ), "
      "γ = {}, λ = {}; as the paper prints it, it has no E[A_C], which is 0 if advantages are exact and their error if "
      "they are not. κ = {:.0f} stands where the sum over an episode has T terms: {}. An estimate is worth something "
      "below 1: nothing foreseen gives 1. Means are those of the paper's figure; the few updates that hardly change "
      "J_C dominate them. The size is that of |J_C(θ+δ) − J_C(θ)|, mean ± standard deviation.\n\n{}",
      options.length, by_task(studies, repetitions), by_task(studies, episodes), studies.front().configuration.seed,
      options.discount, options.lambda, 1.0 / (1.0 - options.discount), by_task(studies, horizon),
      markdown_table(rows));
  report.pictures.push_back({"errors", script_of(studies)});
  return report;
}

ReproductionPlan plan_errors(const ReproduceContext& context) {
  std::vector<ErrorStudy> studies;
  for (const std::string& task : differentiable_tasks()) {
    if (context.quick && !is_in_paper(task)) continue;
    const std::size_t noises = is_in_paper(task) ? kNoises.size() : 1;
    for (const double noise : std::span(kNoises).first(noises)) studies.push_back(study_of(task, noise, context));
  }
  ReproductionPlan plan;
  for (const ErrorStudy& study : studies) {
    Json settings;
    settings["environments"] = study.configuration.settings.environments;
    settings["repetitions"] = study.options.repetitions;
    settings["length"] = study.options.length;
    settings["discounted_fits"] = study.options.discounted_fits;
    plan.settings[study.name()] = settings;
    add_pieces(study, context, plan.pieces);
  }
  plan.seeded = false;
  plan.report = [studies](const PieceResults& results) { return report_on(studies, results); };
  return plan;
}

}  // namespace

Reproduction errors_reproduction() {
  return {"errors", "relative errors of gradient-based and advantage-based estimates", plan_errors};
}

}  // namespace cgpo
