#include "cgpo/studies/worst_case.hpp"

#include <algorithm>
#include <numeric>

#include "cgpo/studies/lanczos.hpp"
#include "cgpo/studies/stages.hpp"

namespace cgpo {
namespace {

// θ of a later state in the coordinates of an earlier one: the normaliser has moved since, and the first layer took
// that up.
std::vector<double> parameters_in(const ActorCritic<double>& earlier, const AlgorithmContext& context,
                                  const Tensors& later) {
  ActorCritic<double> parts(context, Keep::kOutcome);
  parts.load(widened(later));
  parts.policy.fold_input_change(parts.parameters, parts.normaliser.scale(), earlier.normaliser.scale());
  return {parts.parameters.begin(), parts.parameters.end()};
}

}  // namespace

WorstCase worst_case(const AlgorithmContext& context, const Tensors& before, const Tensors& after, double radius,
                     const WorstCaseOptions& options, const Tick& tick) {
  Laboratory laboratory(context);
  ActorCritic<double>& parts = laboratory.parts;
  laboratory.load(before);
  const std::vector<double> end = parameters_in(parts, context, after);
  const std::vector<double> start(parts.parameters.begin(), parts.parameters.end());
  std::vector<double> step(end.size());
  for (std::size_t i = 0; i < step.size(); ++i) step[i] = end[i] - start[i];
  FirstOrderGradient<double> source(*parts.simulator, parts.policy, parts.batch, /*window=*/0);

  const auto gradient_at = [&](std::span<const double> parameters) -> const GradientEstimate& {
    std::copy(parameters.begin(), parameters.end(), parts.parameters.begin());
    laboratory.collect(0);
    return source.estimate(parts.batch, parts.actor(), {}, laboratory.pool());
  };
  WorstCase result;
  result.radius = radius;
  result.length_squared = std::inner_product(step.begin(), step.end(), step.begin(), 0.0);
  {
    const GradientEstimate& gradient = gradient_at(start);
    result.return_predicted = predicted_change(gradient, 0, step);
    const double cost = summarise(parts.batch).mean[kCost];
    const std::vector<double> change = laboratory.realised_change(step);
    result.return_change = change[0];
    result.cost_before = cost;
    result.cost_predicted = cost + predicted_change(gradient, kCost, step);
    result.cost_after = cost + change[kCost];
  }
  // log σ that is held has no gradient: moving it would make the Hessian's products those of no symmetric matrix.
  const std::size_t free =
      parts.policy.learns_std() ? start.size() : static_cast<std::size_t>(parts.policy.log_std_offset());
  int done = 0;
  const int all = options.points * 2;
  for (int point = 0; point < options.points; ++point) {
    const double share = static_cast<double>(point) / (options.points - 1);
    std::vector<double> here(start.size());
    for (std::size_t i = 0; i < here.size(); ++i) here[i] = start[i] + share * step[i];
    for (const std::size_t signal : {std::size_t{0}, kCost}) {
      const SymmetricProduct hessian = [&](std::span<const double> v, std::span<double> product) {
        std::vector<double> moved(here.size());
        const auto shifted = [&](double sign) {
          for (std::size_t i = 0; i < moved.size(); ++i)
            moved[i] = here[i] + (i < free ? sign * options.difference * v[i] : 0.0);
          return std::span<const double>(moved);
        };
        const std::vector<double> up = gradient_at(shifted(1.0)).gradients[signal];
        const std::vector<double>& down = gradient_at(shifted(-1.0)).gradients[signal];
        for (std::size_t i = 0; i < up.size(); ++i) product[i] = (up[i] - down[i]) / (2.0 * options.difference);
      };
      double& curvature = signal == 0 ? result.curvature_return : result.curvature_cost;
      curvature = std::max(curvature, spectral_norm(hessian, static_cast<int>(here.size()), options.products,
                                                    static_cast<std::uint64_t>(point)));
      tick(static_cast<double>(++done) / all);
    }
  }
  return result;
}

}  // namespace cgpo
