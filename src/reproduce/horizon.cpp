// The ablation that the paper's source leaves out: Ant under discounted, infinite-horizon constraints.
#include <fmt/format.h>

#include "cgpo/reproduce/parts.hpp"

namespace cgpo {
namespace {

const std::string kHorizonTask = "ant";
const std::string kHorizonAlgorithms =
    "cgpo,cgpo:finite_horizon=false,cpo,cup,cpo:finite_horizon=true,cup:finite_horizon=true";

ReproductionPlan plan_horizon(const ReproduceContext& context) {
  ReproductionPlan plan;
  plan.adopted = {kHorizonTask};
  plan.settings["algorithms"] = kHorizonAlgorithms;
  CompareRequest request;
  request.task = kHorizonTask;
  request.algorithms = kHorizonAlgorithms;
  if (context.quick) request.sets = {"iterations=15", "environments=64"};
  const std::shared_ptr<CompareResult> runs = add_comparison(plan, context, kHorizonTask, request);
  plan.report = [runs](const PieceResults& results) {
    ReproductionReport report;
    report.results = results.at(kHorizonTask)["comparison"];
    std::vector<Panel> panels;
    for (const bool cost : {false, true}) panels.push_back(comparison_panel(kHorizonTask, *runs, cost));
    report.pictures.push_back({"horizon", panels_script("horizon", panels, 2)});
    report.text = fmt::format(
        "Each algorithm treats the task as its paper does by default, and the other way: as infinite and discounted "
        "(finite_horizon = false: discount 0.99, bootstrapped at the horizon, critics that do not know the time; CPO's "
        "and CUP's default), or as what it is, finite (finite_horizon = true, without discount but for CGPO's "
        "gradient.discount; its default). "
        "J_R, J_C and the limit are sums over the horizon without discount for all.\n\n{}",
        training_table(*runs));
    return report;
  };
  return plan;
}

}  // namespace

Reproduction horizon_reproduction() {
  return {"horizon", "finite-horizon and discounted constraints on Ant", plan_horizon};
}

}  // namespace cgpo
