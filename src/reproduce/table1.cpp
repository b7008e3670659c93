// The paper's main table and learning curves: four tasks, seven algorithms. In two forms: each algorithm at its best,
// and with the paper's batches and iterations.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "cgpo/base/table.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/campaign/pareto.hpp"
#include "cgpo/config/setting_list.hpp"
#include "cgpo/reproduce/parts.hpp"

namespace cgpo {
namespace {

const std::string kTable1Algorithms = "cgpo,pdo,appo,cpo,cup,bptt-lag,shac-lag";
const std::vector<std::string> kTable1Tasks = {"cartpole", "reacher", "halfcheetah", "ant"};
const std::vector<std::string> kRows = {"pdo", "appo", "cpo", "cup", "bptt-lag", "shac-lag", "cgpo"};

constexpr int kSeedsOfCgpo = 4;   // for each of a baseline's
constexpr int kEvaluated = 8192;  // episodes for each last policy, with noise and without

// The paper's: Conv. Steps and Vio. Ratio in percent, for each task.
const std::map<std::string, std::vector<std::string>> kPaper = {
    {"pdo", {"4.99e+06", "12.01", "3.99e+06", "64.42", "3.43e+06", "74.58", "1.70e+07", "51.84"}},
    {"appo", {"5.95e+06", "6.59", "4.22e+06", "46.04", "3.58e+06", "18.33", "1.08e+07", "9.54"}},
    {"cpo", {"6.72e+06", "5.96", "1.98e+06", "30.68", "5.81e+06", "—", "1.69e+07", "24.56"}},
    {"cup", {"6.84e+06", "19.21", "7.76e+06", "56.12", "5.12e+06", "57.40", "9.29e+06", "29.79"}},
    {"bptt-lag", {"3.84e+06", "23.99", "2.73e+06", "67.88", "2.32e+06", "61.56", "2.13e+07", "—"}},
    {"shac-lag", {"2.32e+06", "46.31", "2.96e+06", "50.59", "3.15e+06", "65.90", "1.67e+07", "57.53"}},
    {"cgpo", {"1.77e+06", "3.96", "1.15e+06", "14.29", "2.02e+06", "7.31", "8.52e+06", "6.44"}}};

const std::string kPaperForm = "paper";

std::string form_words(const std::string& form) {
  return form == kPaperForm ? "Every algorithm has the paper's batches and iterations, and its own settings otherwise."
                            : "Every algorithm has the settings that it does best with.";
}

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

// "return at cost", the worst seed's in parentheses.
std::string evaluated_text(const Json& part) {
  const auto text = [](const Json& signal) {
    if (!signal["mean"].is_number()) return std::string("—");
    const std::string mean = fmt::format("{:.4g}", signal["mean"].get<double>());
    return signal["worst"].is_number() ? fmt::format("{} ({:.4g})", mean, signal["worst"].get<double>())
                                       : mean + " (diverged)";
  };
  return fmt::format("{} at {}", text(part["return"]), text(part["costs"][0]));
}

// A line an algorithm: the last policies on fresh episodes, with noise and as they are deployed.
std::string evaluated_table(const std::vector<TaskRuns>& tasks, const PieceResults& results) {
  std::vector<std::vector<std::string>> rows = {{"algorithm"}};
  for (const TaskRuns& runs : tasks) {
    rows[0].push_back(fmt::format("{} (limit {:g}), with noise", runs.task, runs.result->comparison.limits.front()));
    rows[0].insert(rows[0].end(), {"deployed", "feasible"});
  }
  for (const std::string& name : kRows) {
    rows.push_back({name});
    for (const TaskRuns& runs : tasks) {
      const Json& entry = algorithm_of(results.at(runs.task)["comparison"], name);
      const Json& found = entry["evaluation"];
      rows.back().push_back(evaluated_text(found));
      rows.back().push_back(evaluated_text(found["deployed"]));
      rows.back().push_back(fmt::format("{} of {}", found["feasible_runs"].get<int>(), entry["runs"].size()));
    }
  }
  return markdown_table(rows);
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
  std::vector<ParetoPanel> pareto;
  for (const TaskRuns& runs : tasks) pareto.push_back({&runs.result->comparison, runs.task + "/"});
  const std::string speed_and_safety = "table1-pareto";
  std::vector<TextFile> pictures = {picture("table1", {}), {speed_and_safety, pareto_script(speed_and_safety, pareto)}};
  for (const std::string& name : kRows) {
    if (name != "cgpo") pictures.push_back(picture("table1-" + name, {"cgpo", name}));
  }
  return pictures;
}

ReproductionReport report_on(const std::vector<TaskRuns>& tasks, const std::string& form, const PieceResults& results) {
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
      "The paper's table, its numbers in parentheses. {} Conv. Steps here are the strict ones (from there on, for a "
      "whole window, the return is near the run's best feasible one and every cost within its limit), in brackets the "
      "number of runs that converged; Vio. Ratio is that of the critical area. Metrics: {}. Training took {} in all, "
      "over all runs.\n\n{}\nThe last policies on {} fresh episodes each: return at cost with their noise, and as they "
      "are deployed, by their mean actions; mean (worst) over the seeds. Feasible: both ways.\n\n{}\nReturn at cost in "
      "the last iteration, mean ± 95 % interval over the seeds:\n\n{}{}",
      form_words(form), describe(tasks.front().result->comparison.settings), format_duration(seconds),
      markdown_table(rows), tasks.front().result->comparison.evaluated, evaluated_table(tasks, results),
      ends_table(tasks, results), details);
  report.pictures = pictures_of(tasks);
  return report;
}

bool has_setting(const std::string& name) {
  const std::vector<ListedSetting> all = list_settings({});
  return std::any_of(all.begin(), all.end(), [&](const ListedSetting& setting) { return setting.name == name; });
}

// What is set for all: of the paper's form its episodes and iterations. Every other setting is the algorithm's own.
std::vector<std::string> common_sets(const ReproduceContext& context, const std::string& task) {
  std::vector<std::string> sets;
  if (context.quick) {
    sets = {"iterations=12", "environments=32"};
  } else if (context.form == kPaperForm) {
    const Settings paper = study_configuration(context, task, {}, "cgpo", "paper").settings;
    sets = {fmt::format("iterations={}", paper.iterations), fmt::format("environments={}", paper.environments)};
  }
  if (context.form == kPaperForm && has_setting("batch.adaptive")) sets.emplace_back("batch.adaptive=false");
  return sets;
}

ReproductionPlan plan_table1(const ReproduceContext& context) {
  ReproductionPlan plan;
  plan.adopted = kTable1Tasks;
  plan.settings["algorithms"] = kTable1Algorithms;
  plan.settings["evaluated"] = context.quick ? 64 : kEvaluated;
  plan.settings["seeds_of_cgpo"] = context.quick ? context.seeds : kSeedsOfCgpo * context.seeds;
  std::vector<TaskRuns> tasks;
  for (const std::string& task : kTable1Tasks) {
    CompareRequest request;
    request.task = task;
    request.algorithms = kTable1Algorithms;
    request.seeds_of["cgpo"] = plan.settings["seeds_of_cgpo"].get<int>();
    request.evaluate = plan.settings["evaluated"].get<int>();
    request.sets = common_sets(context, task);
    plan.settings["sets"][task] = request.sets;
    tasks.push_back({task, add_comparison(plan, context, task, request)});
  }
  plan.report = [tasks, form = context.form](const PieceResults& results) { return report_on(tasks, form, results); };
  return plan;
}

}  // namespace

Reproduction table1_reproduction() {
  return {"table1", "convergence and violations of seven algorithms on four tasks", plan_table1, {"best", kPaperForm}};
}

}  // namespace cgpo
