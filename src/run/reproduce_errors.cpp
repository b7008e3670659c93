// The paper's figure on estimation errors: GBE and ABE across four stages of training.
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "cgpo/run/gnuplot.hpp"
#include "cgpo/run/reproduce_parts.hpp"
#include "cgpo/run/table.hpp"
#include "cgpo/studies/estimation_errors.hpp"
#include "cgpo/studies/stages.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr double kExplorationNoise = 0.5;  // σ with which the algorithms that use advantages start

struct Stage {
  std::string name;
  double share;  // of the iterations
};
const std::vector<Stage> kStages = {{"5 %", 0.05}, {"25 %", 0.25}, {"50 %", 0.5}, {"100 %", 1.0}};

// Those with derivatives, the paper's two first.
std::vector<std::string> differentiable_tasks() {
  std::vector<std::string> tasks = {"function", "halfcheetah"};
  for (const TaskEntry& entry : task_registry()) {
    const bool listed = entry.name == tasks[0] || entry.name == tasks[1];
    if (!listed && entry.make(TaskOptions(entry.options))->spec().differentiable) tasks.push_back(entry.name);
  }
  return tasks;
}

struct ErrorStudy {
  std::string task;
  Configuration configuration;
  EstimationOptions options;
  std::vector<int> stages;  // iterations

  fs::path checkpoint(const ReproduceContext& context, std::size_t stage) const {
    return context.folder / fmt::format("stage-{}-{}.safetensors", task, stage + 1);
  }
};

ErrorStudy study_of(const std::string& task, const ReproduceContext& context) {
  ErrorStudy study{task, study_configuration(task, {}), {}, {}};
  Settings& settings = study.configuration.settings;
  if (context.quick) {
    settings.environments = 64;
    settings.iterations = std::max(20, settings.iterations / 5);
    study.options.repetitions = 10;
    study.options.discounted_fits = 4;
  }
  for (const Stage& stage : kStages)
    study.stages.push_back(std::max(1, static_cast<int>(std::lround(stage.share * settings.iterations))));
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

std::string noise_name(double noise) { return noise > 0.0 ? "loud" : "own"; }

std::string piece_name(const std::string& task, std::size_t stage, double noise) {
  return fmt::format("{}-stage-{}-{}", task, stage + 1, noise_name(noise));
}

void add_pieces(const ErrorStudy& study, const ReproduceContext& context, std::vector<Piece>& pieces) {
  pieces.push_back({study.task + "-training",
                    [study, &context = context] {
                      return seconds_of_iteration(study.configuration, context.threads) * study.stages.back();
                    },
                    [study, context](const Tick& tick) {
                      const std::vector<Tensors> stages = training_stages(
                          context_of(study.configuration, *context.pool), find_algorithm("cgpo"), study.stages, tick);
                      for (std::size_t i = 0; i < stages.size(); ++i)
                        write_tensors(study.checkpoint(context, i), stages[i]);
                      return Json(study.stages);
                    }});
  const auto seconds = std::make_shared<double>(-1.0);
  for (std::size_t stage = 0; stage < study.stages.size(); ++stage) {
    for (const double noise : {0.0, kExplorationNoise}) {
      pieces.push_back({piece_name(study.task, stage, noise),
                        [study, context, seconds] {
                          if (*seconds < 0.0) *seconds = measured_seconds(study, *context.pool);
                          return *seconds;
                        },
                        [study, context, stage, noise](const Tick& tick) {
                          EstimationOptions options = study.options;
                          options.noise = noise;
                          const EstimationErrors errors =
                              estimation_errors(context_of(study.configuration, *context.pool),
                                                read_tensors(study.checkpoint(context, stage)), options, tick);
                          Json json;
                          json["shac"] = json_of(errors.shac);
                          json["bptt"] = json_of(errors.bptt);
                          json["abe"] = json_of(errors.abe);
                          json["change"] = json_of(errors.change);
                          json["abe_predicted"] = json_of(errors.abe_predicted);
                          json["diverged"] = errors.diverged;
                          return json;
                        }});
    }
  }
}

const std::vector<std::pair<std::string, std::string>> kEstimates = {
    {"shac", "GBE"}, {"bptt", "GBE, whole episodes"}, {"abe", "ABE"}};

std::string script_of(const std::vector<ErrorStudy>& studies) {
  std::string text = svg_header("errors", 960, 300 * static_cast<int>((studies.size() + 1) / 2));
  text += fmt::format("set multiplot layout {},2\nset logscale y\nset format y '10^{{%T}}'\nset xrange [0.6:4.4]\n",
                      (studies.size() + 1) / 2);
  text = text.replace(text.find("noenhanced"), 10, "enhanced");
  std::string ticks;
  for (std::size_t i = 0; i < kStages.size(); ++i)
    ticks += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", kStages[i].name, i + 1);
  text += "set xtics (" + ticks + ")\nset xlabel 'of the training'\nset ylabel 'relative error'\nset key below\n";
  for (const ErrorStudy& study : studies) {
    text += fmt::format("set title '{}'\nplot 1 with lines dt 2 lc rgb 'black' notitle", study.task);
    for (std::size_t e = 0; e < kEstimates.size(); ++e) {
      for (int loud = 0; loud < 2; ++loud) {
        // Of each estimate: median, 10 and 90 % quantile, at its own and at exploration noise.
        const std::size_t column = 2 + 3 * (2 * e + static_cast<std::size_t>(loud));
        text += fmt::format(
            ", \\\n  'errors-{}.csv' skip 1 using ($1{:+.2f}):{}:{}:{} with yerrorlines lw 1.5 dt {} pt 7 ps 0.5 lc "
            "rgb "
            "'{}' title '{}{}'",
            study.task, 0.05 * (static_cast<double>(2 * e) + loud - 2.5), column, column + 1, column + 2, 1 + loud,
            line_colours()[e], kEstimates[e].second, loud == 0 ? "" : fmt::format(", σ = {}", kExplorationNoise));
      }
    }
    text += "\n";
  }
  return text + "unset multiplot\n";
}

ReproductionReport report_on(const std::vector<ErrorStudy>& studies, const PieceResults& results) {
  ReproductionReport report;
  std::vector<std::vector<std::string>> rows = {{"task", "training", "σ", "change of J_C"}};
  for (const auto& [key, title] : kEstimates) rows[0].push_back(title + ": median (mean)");
  report.results = Json::array();
  for (const ErrorStudy& study : studies) {
    std::vector<std::vector<double>> data;
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) data.push_back({static_cast<double>(stage + 1)});
    for (const double noise : {0.0, kExplorationNoise}) {
      for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
        const Json& piece = results.at(piece_name(study.task, stage, noise));
        std::vector<std::string> row = {study.task, kStages[stage].name,
                                        noise > 0.0 ? fmt::format("{}", noise) : "its own",
                                        plus_minus(summary_of(numbers_of(piece["change"])))};
        Json json;
        json["task"] = study.task;
        json["iterations"] = study.stages[stage];
        json["noise"] = noise > 0.0 ? Json(noise) : Json("own");
        for (const auto& [key, title] : kEstimates) {
          const Summary summary = summary_of(numbers_of(piece[key]));
          row.push_back(fmt::format("{} ({})", short_number(summary.median), short_number(summary.mean)));
          json[key] = json_of(summary);
        }
        report.results.push_back(json);
        rows.push_back(row);
      }
    }
    std::vector<std::string> head = {"stage"};
    for (const auto& [key, title] : kEstimates) {
      for (const double noise : {0.0, kExplorationNoise}) {
        for (const char* what : {"median", "low", "high"}) head.push_back(key + "_" + noise_name(noise) + "_" + what);
        for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
          const Summary summary = summary_of(numbers_of(results.at(piece_name(study.task, stage, noise))[key]));
          data[stage].insert(data[stage].end(), {summary.median, summary.low, summary.high});
        }
      }
    }
    report.data.push_back({fmt::format("errors-{}.csv", study.task), csv_of(head, data)});
  }
  const EstimationOptions& options = studies.front().options;
  report.text = fmt::format(
      "Relative error |J_C(θ+δ) − Ĵ_C(θ+δ)| / |J_C(θ+δ) − J_C(θ)| of {} updates of length ‖δ‖ = {}, each on {} "
      "episodes "
      "of its own (its own number for each task), common random numbers, double precision. Policies are those of one "
      "training by `cgpo` after the share of its iterations; σ is the policy's noise, its own or {}. GBE is δᵀ∇J_C "
      "from "
      "windows closed by critics, which chose the update, or from whole episodes; ABE has κ = 1/(1−γ), γ = {}, λ = {}. "
      "An estimate is worth something below 1. Means are dominated by the few updates that hardly changed J_C.\n\n{}",
      options.repetitions, options.length, studies.front().configuration.settings.environments, kExplorationNoise,
      options.discount, options.lambda, markdown_table(rows));
  report.pictures.push_back({"errors", script_of(studies)});
  return report;
}

ReproductionPlan plan_errors(const ReproduceContext& context) {
  std::vector<ErrorStudy> studies;
  for (const std::string& task : differentiable_tasks()) studies.push_back(study_of(task, context));
  ReproductionPlan plan;
  for (const ErrorStudy& study : studies) {
    Json settings;
    settings["stages"] = study.stages;
    settings["environments"] = study.configuration.settings.environments;
    settings["repetitions"] = study.options.repetitions;
    settings["length"] = study.options.length;
    settings["discounted_fits"] = study.options.discounted_fits;
    plan.settings[study.task] = settings;
    add_pieces(study, context, plan.pieces);
  }
  plan.report = [studies](const PieceResults& results) { return report_on(studies, results); };
  return plan;
}

}  // namespace

Reproduction errors_reproduction() {
  return {"errors", "relative errors of gradient-based and advantage-based estimates", plan_errors};
}

}  // namespace cgpo
