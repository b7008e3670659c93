// The paper's main table and learning curves: four tasks, seven algorithms.
#include <fmt/format.h>
#include <map>

#include "cgpo/base/table.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/reproduce/parts.hpp"

namespace cgpo {
namespace {

const std::string kTable1Algorithms = "cgpo,pdo,appo,cpo,cup,bptt-lag,shac-lag";
const std::vector<std::string> kTable1Tasks = {"cartpole", "reacher", "halfcheetah", "ant"};
const std::vector<std::string> kRows = {"pdo", "appo", "cpo", "cup", "bptt-lag", "shac-lag", "cgpo"};

// The paper's: Conv. Steps and Vio. Ratio in percent, for each task.
const std::map<std::string, std::vector<std::string>> kPaper = {
    {"pdo", {"4.99e+06", "12.01", "3.99e+06", "64.42", "3.43e+06", "74.58", "1.70e+07", "51.84"}},
    {"appo", {"5.95e+06", "6.59", "4.22e+06", "46.04", "3.58e+06", "18.33", "1.08e+07", "9.54"}},
    {"cpo", {"6.72e+06", "5.96", "1.98e+06", "30.68", "5.81e+06", "—", "1.69e+07", "24.56"}},
    {"cup", {"6.84e+06", "19.21", "7.76e+06", "56.12", "5.12e+06", "57.40", "9.29e+06", "29.79"}},
    {"bptt-lag", {"3.84e+06", "23.99", "2.73e+06", "67.88", "2.32e+06", "61.56", "2.13e+07", "—"}},
    {"shac-lag", {"2.32e+06", "46.31", "2.96e+06", "50.59", "3.15e+06", "65.90", "1.67e+07", "57.53"}},
    {"cgpo", {"1.77e+06", "3.96", "1.15e+06", "14.29", "2.02e+06", "7.31", "8.52e+06", "6.44"}}};

struct TaskRuns {
  std::string task;
  std::shared_ptr<CompareResult> result;
};

const Json& algorithm_of(const Json& comparison, const std::string& name) {
  for (const Json& entry : comparison["algorithms"]) {
    if (entry["name"] == name) return entry;
  }
  return comparison;  // never: the table has all of them
}

std::string cell(const Json& metric, bool steps, const std::string& paper) {
  std::string ours = steps ? "none" : "—";
  if (metric["mean"].is_number() && metric["runs"].get<int>() > 0) {
    const double mean = metric["mean"].get<double>();
    ours = steps ? fmt::format("{:.2e}", mean) : fmt::format("{:.2f}", 100.0 * mean);
    if (steps) ours += fmt::format(" [{}]", metric["runs"].get<int>());
  }
  return fmt::format("{} ({})", ours, paper);
}

// "return at cost", each with its interval.
std::string end_of_training(const Json& entry) {
  const auto text = [](const Json& mean) {
    if (!mean["mean"].is_number()) return std::string("—");
    std::string number = short_number(mean["mean"].get<double>());
    if (mean["half_width"].is_number()) number += " ± " + short_number(mean["half_width"].get<double>());
    return number;
  };
  return fmt::format("{} at {}", text(entry["return"]), text(entry["costs"][0]));
}

// A line an algorithm, a column a task: what the trainings ended with.
std::string ends_table(const std::vector<TaskRuns>& tasks, const PieceResults& results) {
  std::vector<std::vector<std::string>> rows = {{"algorithm"}};
  for (const TaskRuns& runs : tasks) {
    rows[0].push_back(fmt::format("{} (limit {:g})", runs.task, runs.result->comparison.limits.front()));
  }
  for (const std::string& name : kRows) {
    rows.push_back({name});
    for (const TaskRuns& runs : tasks) {
      rows.back().push_back(end_of_training(algorithm_of(results.at(runs.task)["comparison"], name)));
    }
  }
  return markdown_table(rows);
}

// All algorithms, then each of the others beside CGPO.
std::vector<TextFile> pictures_of(const std::vector<TaskRuns>& tasks) {
  const auto picture = [&](const std::string& name, const std::vector<std::string>& shown) {
    std::vector<Panel> panels;
    for (const TaskRuns& runs : tasks) {
      for (const bool cost : {false, true}) panels.push_back(comparison_panel(runs.task, *runs.result, cost, shown));
    }
    return TextFile{name, panels_script(name, panels, 2)};
  };
  std::vector<TextFile> pictures = {picture("table1", {})};
  for (const std::string& name : kRows) {
    if (name != "cgpo") pictures.push_back(picture("table1-" + name, {"cgpo", name}));
  }
  return pictures;
}

ReproductionReport report_on(const std::vector<TaskRuns>& tasks, const PieceResults& results) {
  ReproductionReport report;
  std::vector<std::vector<std::string>> rows = {{"algorithm"}};
  double seconds = 0.0;
  std::string details;
  for (const TaskRuns& runs : tasks) {
    rows[0].push_back(runs.task + ": Conv. Steps");
    rows[0].push_back("Vio. Ratio, %");
    const Json& result = results.at(runs.task);
    seconds += result["training_seconds"].get<double>();
    report.results[runs.task] = result["comparison"];
    details += fmt::format("\n{} ({} of training):\n\n{}", runs.task,
                           format_duration(result["training_seconds"].get<double>()), training_table(*runs.result));
  }
  for (const std::string& name : kRows) {
    std::vector<std::string> row = {name};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Json& entry = algorithm_of(results.at(tasks[i].task)["comparison"], name);
      row.push_back(cell(entry["convergence_strict"], true, kPaper.at(name)[2 * i]));
      row.push_back(cell(entry["violations_critical"], false, kPaper.at(name)[2 * i + 1]));
    }
    rows.push_back(row);
  }
  report.text = fmt::format(
      "The paper's table, its numbers in parentheses. Conv. Steps here are the strict ones (a whole window follows, "
      "and "
      "the return is near the run's best feasible one), in brackets the number of runs that converged; Vio. Ratio is "
      "that of the critical area. Metrics: {}. Training took {} in all, over all runs.\n\n{}\nReturn at cost in the "
      "last "
      "iteration, mean ± 95 % interval over the seeds:\n\n{}{}",
      describe(tasks.front().result->comparison.settings), format_duration(seconds), markdown_table(rows),
      ends_table(tasks, results), details);
  report.pictures = pictures_of(tasks);
  return report;
}

ReproductionPlan plan_table1(const ReproduceContext& context) {
  ReproductionPlan plan;
  plan.adopted = kTable1Tasks;
  plan.settings["algorithms"] = kTable1Algorithms;
  std::vector<TaskRuns> tasks;
  for (const std::string& task : kTable1Tasks) {
    CompareRequest request;
    request.task = task;
    request.algorithms = kTable1Algorithms;
    if (context.quick) request.sets = {"iterations=12", "environments=32"};
    tasks.push_back({task, add_comparison(plan, context, task, request)});
  }
  plan.report = [tasks](const PieceResults& results) { return report_on(tasks, results); };
  return plan;
}

}  // namespace

Reproduction table1_reproduction() {
  return {"table1", "convergence and violations of seven algorithms on four tasks", plan_table1};
}

}  // namespace cgpo
