// The paper's figure on learned models: two tasks without derivatives, beside the model-free baselines; and what it
// leaves out: how far a model can be trusted, and what true gradients are worth where there are some.
#include <fmt/format.h>

#include "cgpo/algorithms/model_based.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/judge/metrics.hpp"
#include "cgpo/reproduce/parts.hpp"
#include "cgpo/run/trained_policy.hpp"

namespace cgpo {
namespace {

constexpr int kHorizon = 50;  // steps of the error curve

struct WorldTask {
  std::string task;
  std::string algorithms;  // the first is the one with a model
  std::vector<std::string> quick;
  std::shared_ptr<CompareResult> result = {};
};

const std::vector<WorldTask>& world_tasks() {
  static const std::vector<WorldTask> tasks = {
      {"function-floor", "mb-cgpo,ppo-lag,cpo", {"iterations=25", "environments=32"}},
      {"swimmer", "mb-cgpo,ppo-lag,cpo", {"iterations=8", "environments=32"}},
      {"halfcheetah", "mb-cgpo,cgpo", {"iterations=8", "environments=32"}}};
  return tasks;
}

// Steps; return and first cost as measured, and as whole episodes in the model say: mean and 95 % interval over seeds.
std::string prediction_csv(const ComparedAlgorithm& algorithm) {
  std::size_t length = 0;
  for (const ComparedRun& run : algorithm.runs) length = std::max(length, run.log.size());
  std::vector<std::vector<double>> rows;
  for (std::size_t k = 0; k < length; ++k) {
    std::vector<double> steps;
    std::vector<std::vector<double>> values(4);  // return, predicted; cost, predicted
    for (const ComparedRun& run : algorithm.runs) {
      if (!run.problem.empty() || k >= run.log.size() || !run.log[k].report.world) continue;
      const IterationReport& report = run.log[k].report;
      steps.push_back(static_cast<double>(report.steps));
      values[0].push_back(report.return_mean);
      values[1].push_back(report.world->return_episodes);
      if (report.costs.empty()) continue;
      values[2].push_back(report.costs[0]);
      values[3].push_back(report.world->costs_episodes[0]);
    }
    std::vector<double> row = {mean_over_seeds(steps).mean};
    for (const std::vector<double>& value : values) append_band(row, mean_over_seeds(value));
    rows.push_back(row);
  }
  return csv_of({"steps", "return", "return_low", "return_high", "predicted_return", "predicted_return_low",
                 "predicted_return_high", "cost", "cost_low", "cost_high", "predicted_cost", "predicted_cost_low",
                 "predicted_cost_high"},
                rows);
}

// The error curves of the last model of every seed that finished. If one did not, the piece says so and is not kept.
Json measure_errors(const ReproduceContext& context, const WorldTask& task, const Tick& tick) {
  Json curves = Json::array();
  const std::vector<ComparedRun>& runs = task.result->comparison.algorithms.front().runs;
  bool failed = false;
  for (const ComparedRun& compared : runs) {
    if (!compared.problem.empty()) {
      failed = true;
      continue;
    }
    const TrainedPolicy policy = TrainedPolicy::load(compared.folder);
    const HorizonErrors found = measure_horizon(context_of(policy.configuration(), *context.pool), policy.checkpoint(),
                                                context.quick ? 64 : 256, kHorizon);
    Json curve;
    curve["seed"] = compared.seed;
    curve["state"] = json_of(found.errors.state);
    curve["signals"] = Json::array();
    for (const auto& signal : found.errors.signals) curve["signals"].push_back(json_of(signal));
    curve["signal_std"] = json_of(found.signal_std);
    for (const GradientAgreement& gradient : found.gradients) curve["gradient_cosines"].push_back(gradient.cosine);
    curves.push_back(std::move(curve));
    tick(static_cast<double>(curves.size()) / static_cast<double>(runs.size()));
  }
  Json result;
  result["curves"] = std::move(curves);
  result["failed"] = failed;
  return result;
}

std::string errors_name(const WorldTask& task) { return "errors-" + task.task; }
std::string predictions_file(const WorldTask& task) { return "predictions-" + task.task + ".csv"; }

// A line a step: the mean over the seeds and its interval, of the state's error and of each signal's in standard
// deviations of the signal.
std::vector<std::vector<double>> error_rows(const Json& curves) {
  const std::size_t signals = curves[0]["signals"].size();
  std::vector<std::vector<double>> rows;
  for (int h = 0; h < kHorizon; ++h) {
    std::vector<double> row = {h + 1.0};
    const auto add = [&](const auto& value) {
      std::vector<double> values;
      for (const Json& curve : curves) values.push_back(value(curve));
      append_band(row, mean_over_seeds(values));
      double& low = row[row.size() - 2];
      low = std::max(low, 0.0);  // errors have no sign
    };
    const auto at = static_cast<std::size_t>(h);
    add([&](const Json& curve) { return numbers_of(curve["state"])[at]; });
    for (std::size_t k = 0; k < signals; ++k) {
      add([&](const Json& curve) { return numbers_of(curve["signals"][k])[at] / numbers_of(curve["signal_std"])[k]; });
    }
    rows.push_back(row);
  }
  return rows;
}

Panel prediction_panel(const WorldTask& task, bool cost) {
  const int first = cost ? 8 : 2;
  Panel panel;
  panel.title = task.task;
  panel.x = "environment steps";
  panel.y = cost ? "cost" : "return";
  panel.settings = "set format x '%.1s%c'";
  if (cost && !task.result->comparison.limits.empty()) panel.limit = task.result->comparison.limits.front();
  panel.lines.push_back({predictions_file(task), 1, first + 3, first + 4, first + 5, "predicted by the model"});
  panel.lines.push_back({predictions_file(task), 1, first, 0, 0, "real"});
  return panel;
}

// Mean over the seeds.
std::string gradient_cosines(const Json& curves) {
  if (!curves[0].contains("gradient_cosines")) return "";
  std::string text = "; cosine of the model's gradient with the true one, same episodes and critics:";
  for (std::size_t k = 0; k < curves[0]["gradient_cosines"].size(); ++k) {
    std::vector<double> values;
    for (const Json& curve : curves) values.push_back(numbers_of(curve["gradient_cosines"])[k]);
    text += fmt::format(" {} ({})", short_number(mean_over_seeds(values).mean), k == 0 ? "return" : "cost");
  }
  return text;
}

// How far the last models of a task are off, as numbers, as a picture and in a line.
struct ErrorCurves {
  TextFile data;
  Panel panel;
  std::string text;
};
ErrorCurves error_curves(const WorldTask& task, const Json& curves) {
  ErrorCurves result;
  std::vector<std::string> head = {"h", "state", "state_low", "state_high"};
  for (std::size_t k = 0; k < curves[0]["signals"].size(); ++k) {
    const std::string name = k == 0 ? "reward" : "cost" + std::to_string(k);
    head.insert(head.end(), {name, name + "_low", name + "_high"});
  }
  const std::vector<std::vector<double>> rows = error_rows(curves);
  result.data = {errors_name(task) + ".csv", csv_of(head, rows)};
  result.panel.title = task.task;
  result.panel.x = "steps ahead";
  result.panel.y = "error";
  for (std::size_t i = 1; i < head.size(); i += 3) {
    const int column = static_cast<int>(i) + 1;
    result.panel.lines.push_back({result.data.name, 1, column, column + 1, column + 2, head[i]});
  }
  const auto ahead = [&](std::size_t column) {
    std::string text;
    for (const int h : {1, 10, 20, 50})
      text += fmt::format(" {} (h = {})", short_number(rows[static_cast<std::size_t>(h - 1)][column]), h);
    return text;
  };
  result.text = fmt::format("- {}: state{}, reward{}{}\n", task.task, ahead(1), ahead(4), gradient_cosines(curves));
  return result;
}

ReproductionReport report_on(const std::vector<WorldTask>& tasks, const PieceResults& results) {
  ReproductionReport report;
  std::vector<Panel> predictions;
  std::vector<Panel> comparisons;
  std::vector<Panel> errors;
  report.text =
      "MB-CGPO takes its gradients through a model that it learns of the task; returns and costs are measured in the "
      "real one. All algorithms of a table had the same number of real steps. The first picture is the paper's: what "
      "was measured, and, with its interval over the seeds, what whole episodes inside the model predicted at the same "
      "time.\n";
  std::string error_text = fmt::format(
      "\nHow far the last models are off after h steps with the real actions, on fresh episodes (mean over the seeds; "
      "states in standard deviations of the observations, signals in their own):\n");
  for (const WorldTask& task : tasks) {
    report.results[task.task] = results.at(task.task)["comparison"];
    report.text += fmt::format("\n{} ({} of training):\n\n{}", task.task,
                               format_duration(results.at(task.task)["training_seconds"].get<double>()),
                               training_table(*task.result));
    report.data.push_back({predictions_file(task), prediction_csv(task.result->comparison.algorithms.front())});
    for (const bool cost : {false, true}) {
      predictions.push_back(prediction_panel(task, cost));
      comparisons.push_back(comparison_panel(task.task, *task.result, cost));
    }
    const Json& curves = results.at(errors_name(task))["curves"];
    report.results[errors_name(task)] = curves;
    if (curves.empty()) {
      error_text += fmt::format("- {}: no run finished\n", task.task);
      continue;
    }
    const ErrorCurves found = error_curves(task, curves);
    report.data.push_back(found.data);
    errors.push_back(found.panel);
    error_text += found.text;
  }
  report.text += error_text;
  report.pictures.push_back({"predictions", panels_script("predictions", predictions, 2)});
  report.pictures.push_back({"comparisons", panels_script("comparisons", comparisons, 2)});
  if (!errors.empty()) report.pictures.push_back({"errors", panels_script("errors", errors, 1)});
  return report;
}

ReproductionPlan plan_world_model(const ReproduceContext& context) {
  ReproductionPlan plan;
  std::vector<WorldTask> tasks = world_tasks();
  for (WorldTask& task : tasks) {
    plan.adopted.push_back(task.task);
    plan.settings[task.task] = task.algorithms;
    CompareRequest request;
    request.task = task.task;
    request.algorithms = task.algorithms;
    if (context.quick) request.sets = task.quick;
    task.result = add_comparison(plan, context, task.task, request);
    plan.pieces.push_back({.name = errors_name(task),
                           .seconds = [seeds = context.seeds] { return 2.0 * seeds; },
                           .make = [context, task](const Tick& tick) { return measure_errors(context, task, tick); }});
  }
  plan.report = [tasks](const PieceResults& results) { return report_on(tasks, results); };
  return plan;
}

}  // namespace

Reproduction world_model_reproduction() {
  return {"world-model", "gradients through learned models, on tasks without derivatives", plan_world_model};
}

}  // namespace cgpo
