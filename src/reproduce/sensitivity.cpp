// Beyond the paper: what the result owes to the window, the number of episodes, the radius bounds and the critics.
#include <fmt/format.h>

#include "cgpo/base/table.hpp"
#include "cgpo/campaign/comparison_tables.hpp"
#include "cgpo/reproduce/parts.hpp"

namespace cgpo {
namespace {

const std::vector<std::string> kSensitivityTasks = {"cartpole", "halfcheetah"};

struct Sweep {
  std::string name;   // of its picture, too
  std::string title;  // of the axis
  std::string key;
  std::vector<double> values;
};
const std::vector<Sweep> kSweeps = {{"window", "window h", "window", {1, 2, 5, 10, 20, 50}},
                                    {"episodes", "episodes N", "environments", {16, 32, 64, 128, 256}},
                                    {"upper", "upper bound of the radius", "radius.upper", {1e-3, 3e-3, 1e-2, 1e-1}},
                                    {"lower", "lower bound of the radius", "radius.lower", {1e-7, 1e-6, 1e-5, 1e-4}},
                                    {"critic", "steps of the critics' fit", "critic.steps", {4, 16, 64, 256, 1024}}};

std::string label_of(const Sweep& sweep, double value) { return fmt::format("cgpo:{}={}", sweep.key, value); }

// One that differs from plain cgpo in nothing is left out by `compare`: it would be the same twice.
bool is_standard(const ReproduceContext& context, const Configuration& standard, const Sweep& sweep, double value) {
  return differences(standard, study_configuration(context, standard.task, {fmt::format("{}={}", sweep.key, value)}))
      .empty();
}

struct SweepRuns {
  std::string task;
  std::shared_ptr<CompareResult> result;
};

const ComparedAlgorithm* find_runs(const Comparison& comparison, const std::string& label) {
  for (const ComparedAlgorithm& algorithm : comparison.algorithms) {
    if (algorithm.label == label) return &algorithm;
  }
  return nullptr;
}

// Mean over the seeds of return and cost in the last fifth of a run, and the share of updates that broke the limit.
std::vector<double> outcome_of(const ComparedAlgorithm& algorithm, const MetricSettings& settings) {
  std::vector<double> returns;
  std::vector<double> costs;
  std::vector<double> violations;
  for (const ComparedRun* run : finished_runs(algorithm)) {
    const std::vector<LogEntry>& log = run->log;
    const std::size_t last = std::max<std::size_t>(1, log.size() / 5);
    double return_sum = 0.0;
    double cost_sum = 0.0;
    for (std::size_t k = log.size() - last; k < log.size(); ++k) {
      return_sum += log[k].report.return_mean;
      cost_sum += log[k].report.costs.front();
    }
    returns.push_back(return_sum / static_cast<double>(last));
    costs.push_back(cost_sum / static_cast<double>(last));
    violations.push_back(measure(log, settings).violations_whole.value_or(0.0));
  }
  std::vector<double> row;
  for (const auto* values : {&returns, &costs, &violations}) append_band(row, mean_over_seeds(*values));
  return row;
}

ReproductionReport report_on(const std::vector<SweepRuns>& tasks, const PieceResults& results) {
  ReproductionReport report;
  std::vector<std::vector<std::string>> rows = {
      {"task", "setting", "value", "return", "cost", "updates over limit, %"}};
  for (const Sweep& sweep : kSweeps) {
    std::vector<Panel> panels;
    for (const SweepRuns& runs : tasks) {
      const Comparison& comparison = runs.result->comparison;
      std::vector<std::vector<double>> data;
      for (const double value : sweep.values) {
        const ComparedAlgorithm* algorithm = find_runs(comparison, label_of(sweep, value));
        const bool standard = algorithm == nullptr;
        if (standard) algorithm = find_runs(comparison, "cgpo");
        std::vector<double> row = outcome_of(*algorithm, comparison.settings);
        rows.push_back({runs.task, sweep.key, fmt::format("{}{}", value, standard ? " (standard)" : ""),
                        short_number(row[0]), short_number(row[3]), short_number(100.0 * row[6])});
        row.insert(row.begin(), value);
        data.push_back(row);
      }
      const std::string file = fmt::format("sensitivity-{}-{}.csv", sweep.name, runs.task);
      report.data.push_back({file, csv_of({"value", "return", "return_low", "return_high", "cost", "cost_low",
                                           "cost_high", "violations", "violations_low", "violations_high"},
                                          data)});
      const auto seeds = static_cast<int>(comparison.algorithms.front().runs.size());
      const std::string log = "set logscale x";
      panels.push_back({runs.task, sweep.title, "return", {curve(file, 1, 2, "return", seeds)}, {}, log});
      panels.push_back(
          {runs.task, sweep.title, "cost", {curve(file, 1, 5, "cost", seeds)}, comparison.limits.front(), log});
      panels.push_back(
          {runs.task, sweep.title, "updates over the limit", {curve(file, 1, 8, "share", seeds)}, {}, log});
    }
    const std::string name = fmt::format("sensitivity-{}", sweep.name);
    report.pictures.push_back({name, panels_script(name, panels, 3)});
  }
  std::string unfinished;
  for (const SweepRuns& runs : tasks) {
    report.results[runs.task] = results.at(runs.task)["comparison"];
    unfinished += diverged_runs(runs.result->comparison) + unfinished_runs(runs.result->comparison);
  }
  report.text = fmt::format(
      "CGPO with one setting changed at a time: mean over the seeds of return and cost in the last fifth of the "
      "training, and the share of all updates with a cost over the limit by the metrics' margin. The iterations are "
      "the "
      "same for all, so more episodes are more steps.\n\n{}{}",
      markdown_table(rows), unfinished);
  return report;
}

ReproductionPlan plan_sensitivity(const ReproduceContext& context) {
  ReproductionPlan plan;
  plan.adopted = kSensitivityTasks;
  std::vector<SweepRuns> tasks;
  for (const std::string& task : kSensitivityTasks) {
    if (context.quick && task != kSensitivityTasks.front()) continue;
    const Configuration standard = study_configuration(context, task, {});
    CompareRequest request;
    request.task = task;
    request.algorithms = "cgpo";
    for (const Sweep& sweep : kSweeps) {
      for (const double value : sweep.values) {
        if (!is_standard(context, standard, sweep, value))
          request.algorithms += fmt::format(",{}", label_of(sweep, value));
      }
    }
    request.sets = {task == "halfcheetah" ? "iterations=60" : "iterations=100"};
    if (context.quick) request.sets = {"iterations=15"};
    plan.settings[task] = request.algorithms;
    tasks.push_back({task, add_comparison(plan, context, task, request)});
  }
  plan.report = [tasks](const PieceResults& results) { return report_on(tasks, results); };
  return plan;
}

}  // namespace

Reproduction sensitivity_reproduction() {
  return {"sensitivity", "what the result owes to window, episodes, radius bounds and critics", plan_sensitivity};
}

}  // namespace cgpo
