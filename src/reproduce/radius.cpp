// The paper's figures on the adaptive radius: against fixed radii, the panels of its hyper-parameters, and the
// worst-case bounds of its theorem beside what happened.
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/reproduce/parts.hpp"
#include "cgpo/studies/stages.hpp"
#include "cgpo/studies/worst_case.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

const std::string kRadiusTask = "cartpole";

struct AblationPanel {
  std::string title;
  std::vector<std::string> variants;  // beside plain cgpo; settings as in --algos
};
const std::vector<AblationPanel> kPanels = {
    {"adaptive or fixed",
     {"radius.test=fixed:radius.initial=1e-4", "radius.test=fixed:radius.initial=1e-3",
      "radius.test=fixed:radius.initial=1e-2"}},
    {"first radius", {"radius.initial=1e-4", "radius.initial=1e-2"}},
    {"upper bound", {"radius.upper=2e-3", "radius.upper=1e-1"}},
    {"lower bound", {"radius.lower=1e-6", "radius.lower=5e-4"}},
    {"shrinking, β1", {"radius.shrink=0.5", "radius.shrink=0.9"}},
    {"growing, β2", {"radius.grow=1.1", "radius.grow=2.0"}}};

std::string all_variants() {
  std::string text = "cgpo";
  for (const AblationPanel& panel : kPanels) {
    for (const std::string& variant : panel.variants) text += ",cgpo:" + variant;
  }
  return text;
}

// The updates at which the bounds are taken: the letter of the paper, whose ball is Euclidean.
struct BoundStudy {
  std::string task;
  Configuration configuration;
  std::vector<int> iterations;
  WorstCaseOptions options;

  std::string piece(int iteration) const { return fmt::format("bounds-{}-{}", task, iteration); }
  fs::path file(const ReproduceContext& context, int iteration, const char* which) const {
    return context.folder / fmt::format("bounds-{}-{}-{}.safetensors", task, iteration, which);
  }
};

std::vector<BoundStudy> bound_studies(const ReproduceContext& context) {
  std::vector<BoundStudy> studies;
  for (const char* task : {"function", "reacher"}) {
    BoundStudy study{task, study_configuration(context, task, {"environments=32"}, "cgpo", "paper"), {}, {}};
    study.iterations = context.quick ? std::vector<int>{2, 12} : std::vector<int>{1, 5, 10, 20, 40, 80};
    if (context.quick) study.options = {.points = 2, .products = 3};
    studies.push_back(study);
  }
  return studies;
}

void add_bound_pieces(const BoundStudy& study, const ReproduceContext& context, std::vector<Piece>& pieces) {
  pieces.push_back({fmt::format("bounds-{}-training", study.task),
                    [study, context] {
                      return seconds_of_iteration(study.configuration, context.threads) * study.iterations.back();
                    },
                    [study, context](const Tick& tick) {
                      std::vector<int> wanted;
                      for (const int k : study.iterations) wanted.insert(wanted.end(), {k, k + 1});
                      const std::vector<Tensors> states = training_stages(
                          context_of(study.configuration, *context.pool), find_algorithm("cgpo"), wanted, tick);
                      Json radii = Json::array();
                      for (std::size_t i = 0; i < study.iterations.size(); ++i) {
                        write_tensors(study.file(context, study.iterations[i], "before"), states[2 * i]);
                        write_tensors(study.file(context, study.iterations[i], "after"), states[2 * i + 1]);
                        radii.push_back(states[2 * i + 1].number("radius.value"));
                      }
                      return radii;
                    }});
  const auto unit = std::make_shared<double>(-1.0);
  for (const int k : study.iterations) {
    pieces.push_back({study.piece(k),
                      [study, context, unit] {
                        if (*unit < 0.0) {
                          const AlgorithmContext own = context_of(study.configuration, *context.pool);
                          const Tensors start = training_stages(own, find_algorithm("cgpo"), {0}, no_tick).front();
                          const WorstCaseOptions one{.points = 2, .products = 1};
                          *unit = seconds_of([&] { worst_case(own, start, start, 1e-3, one, no_tick); }) / 4.0 * 2.0 *
                                  study.options.points * study.options.products;
                        }
                        return *unit;
                      },
                      [study, context, k](const Tick& tick) {
                        const Tensors before = read_tensors(study.file(context, k, "before"));
                        const Tensors after = read_tensors(study.file(context, k, "after"));
                        const double radius = after.number("radius.value");
                        const WorstCase bounds = worst_case(context_of(study.configuration, *context.pool), before,
                                                            after, radius, study.options, tick);
                        const double limit = study.configuration.settings.limits.front();
                        Json json;
                        json["radius"] = bounds.radius;
                        json["length_squared"] = bounds.length_squared;
                        json["curvature_return"] = bounds.curvature_return;
                        json["curvature_cost"] = bounds.curvature_cost;
                        json["return_change"] = bounds.return_change;
                        json["return_bound"] = bounds.return_bound();
                        json["return_error"] = std::abs(bounds.return_change - bounds.return_predicted);
                        json["return_error_bound"] = bounds.return_error_bound();
                        json["cost_before"] = bounds.cost_before;
                        json["cost_after"] = bounds.cost_after;
                        json["cost_bound"] = bounds.cost_bound(limit);
                        json["cost_error"] = std::abs(bounds.cost_after - bounds.cost_predicted);
                        json["cost_error_bound"] = bounds.cost_error_bound();
                        json["limit"] = limit;
                        return json;
                      }});
  }
}

// A relation of the theorem as the numbers have it: bold where it is not the one that was promised.
std::string relation(double value, bool at_most, double bound) {
  const bool close = short_number(value) == short_number(bound);
  const auto text = [&](double x) { return close && std::isfinite(x) ? fmt::format("{:.5g}", x) : short_number(x); };
  if (!std::isfinite(value) || !std::isfinite(bound)) return fmt::format("{} ? {}", text(value), text(bound));
  if (at_most ? value <= bound : value >= bound)
    return fmt::format("{} {} {}", text(value), at_most ? "≤" : "≥", text(bound));
  return fmt::format("**{} {} {}**", text(value), at_most ? ">" : "<", text(bound));
}

// On how many updates the theorem's two bounds hold, among those that it speaks of and among the others.
struct BoundCount {
  int updates = 0;
  int hold = 0;
};

std::string bounds_table(const std::vector<BoundStudy>& studies, const PieceResults& results, Json& json) {
  std::vector<std::vector<std::string>> rows = {{"task", "iteration", "δ̂", "‖δ‖²", "ε_R", "ε_C", "J_C before ≤ limit",
                                                 "ΔJ_R ≥ bound", "J_C ≤ bound", "error of Ĵ_R ≤ bound",
                                                 "error of Ĵ_C ≤ bound"}};
  BoundCount covered;
  BoundCount others;
  for (const BoundStudy& study : studies) {
    for (const int k : study.iterations) {
      Json cell = results.at(study.piece(k));
      const auto number = [&](const char* key) { return numbers_of(Json::array({cell[key]}))[0]; };
      const auto text = [&](const char* key) { return short_number(number(key)); };
      const auto at_most = [&](const char* value, const char* bound) {
        return relation(number(value), true, number(bound));
      };
      rows.push_back({study.task, fmt::format("{}", k), text("radius"), text("length_squared"),
                      text("curvature_return"), text("curvature_cost"), at_most("cost_before", "limit"),
                      relation(number("return_change"), false, number("return_bound")),
                      at_most("cost_after", "cost_bound"), at_most("return_error", "return_error_bound"),
                      at_most("cost_error", "cost_error_bound")});
      BoundCount& count = number("cost_before") <= number("limit") ? covered : others;
      ++count.updates;
      if (number("return_change") >= number("return_bound") && number("cost_after") <= number("cost_bound"))
        ++count.hold;
      cell["task"] = study.task;
      cell["iteration"] = k;
      json.push_back(cell);
    }
  }
  return fmt::format(
      "{}\nBold: the relation in the heading does not hold. The theorem speaks of {} of these {} updates, those that "
      "begin at a feasible θ; its bounds on J_R and J_C hold at {} of them, and at {} of the other {}.\n",
      markdown_table(rows), covered.updates, covered.updates + others.updates, covered.hold, others.hold,
      others.updates);
}

ReproductionReport report_on(const CompareResult& runs, const std::vector<BoundStudy>& studies,
                             const PieceResults& results) {
  ReproductionReport report;
  std::map<std::string, std::string> files;
  for (const ComparedAlgorithm& algorithm : runs.comparison.algorithms) {
    files[algorithm.label] = fmt::format("radius-{}.csv", algorithm.label);
    report.data.push_back({files[algorithm.label], training_csv(algorithm)});
  }
  const auto seeds = static_cast<int>(runs.comparison.algorithms.front().runs.size());
  std::vector<Panel> panels;
  for (const AblationPanel& ablation : kPanels) {
    Panel curves[3];
    const std::vector<std::pair<std::string, int>> shown = {
        {"return", kReturnColumn}, {"cost", kCostColumn}, {"radius", kRadiusColumn}};
    for (std::size_t i = 0; i < shown.size(); ++i) {
      Panel& panel = curves[i];
      panel.title = ablation.title;
      panel.x = "environment steps";
      panel.y = shown[i].first;
      panel.settings = i == 2 ? "set format x '%.1s%c'; set logscale y; set format y '%g'" : "set format x '%.1s%c'";
      panel.undo = i == 2 ? "unset logscale y; unset format y" : "";
      if (i == 1) panel.limit = runs.comparison.limits.front();
      const int column = shown[i].second;
      panel.lines.push_back(curve(files["cgpo"], 1, column, "cgpo", seeds));
      for (const std::string& variant : ablation.variants)
        panel.lines.push_back(curve(files["cgpo:" + variant], 1, column, variant, seeds));
      panels.push_back(panel);
    }
  }
  report.pictures.push_back({"radius", panels_script("radius", panels, 3)});
  report.results["ablation"] = results.at(kRadiusTask)["comparison"];
  report.results["bounds"] = Json::array();
  const std::string bounds = bounds_table(studies, results, report.results["bounds"]);
  report.text = fmt::format(
      "CGPO on {}, with the radius adapted as it is by default and with one thing changed at a time:\n\n{}\n"
      "Worst-case bounds (the paper's theorem and lemma) of single updates under `--preset paper`, whose ball is "
      "Euclidean, with 32 episodes, common random numbers and double precision. ε is the spectral norm of ∇²J, the "
      "largest of {} points on the way, by {} products of Lanczos' method on differences of gradients through whole "
      "episodes: a value from below. The theorem's bounds are those of an exact gradient and a feasible θ; the "
      "training's own comes from windows and critics.\n\n{}",
      kRadiusTask, training_table(runs), studies.front().options.points, studies.front().options.products, bounds);
  return report;
}

ReproductionPlan plan_radius(const ReproduceContext& context) {
  ReproductionPlan plan;
  CompareRequest request;
  request.task = kRadiusTask;
  request.algorithms = all_variants();
  if (context.quick) request.sets = {"iterations=20", "environments=32"};
  plan.adopted = {kRadiusTask};
  plan.settings["variants"] = request.algorithms;
  const std::vector<BoundStudy> studies = bound_studies(context);
  for (const BoundStudy& study : studies) {
    plan.settings["bounds"][study.task]["iterations"] = study.iterations;
    plan.settings["bounds"][study.task]["products"] = study.options.products;
    add_bound_pieces(study, context, plan.pieces);
  }
  const std::shared_ptr<CompareResult> runs = add_comparison(plan, context, kRadiusTask, request);
  plan.report = [runs, studies](const PieceResults& results) { return report_on(*runs, studies, results); };
  return plan;
}

}  // namespace

Reproduction radius_reproduction() {
  return {"radius", "the adaptive radius, its hyper-parameters, and worst-case bounds", plan_radius};
}

}  // namespace cgpo
