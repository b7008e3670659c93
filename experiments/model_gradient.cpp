// How well the model of a run of mb-cgpo knows the slopes of its task: a row for each run, on fresh episodes of its
// policy. The task must have derivatives of its own to compare with.
//   model_gradient RUN…
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "cgpo/algorithms/model_based.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/run/trained_policy.hpp"

namespace cgpo {
namespace {

constexpr int kEpisodes = 512;
constexpr int kSteps = 20;

// ‖ĝ − g‖ / ‖g‖
double relative_error(const GradientAgreement& gradient) {
  const double ratio = gradient.model_length / gradient.true_length;
  return std::sqrt(std::max(0.0, 1.0 + ratio * ratio - 2.0 * ratio * gradient.cosine));
}

std::vector<std::string> row_of(const std::string& folder, ThreadPool& pool) {
  const TrainedPolicy policy = TrainedPolicy::load(folder);
  const HorizonErrors found =
      measure_horizon(context_of(policy.configuration(), pool), policy.checkpoint(), kEpisodes, kSteps);
  if (found.gradients.empty()) throw UserError("{}: the task of this run has no derivatives to compare with", folder);
  std::vector<std::string> row = {fmt::format("{}", policy.configuration().settings.iterations),
                                  fmt::format("{:.3f}", found.errors.state.front()),
                                  fmt::format("{:.2f}", found.errors.state.back())};
  for (const GradientAgreement& gradient : {found.gradients[0], found.gradients[1]}) {
    row.push_back(fmt::format("{:.0f}", gradient.true_length));
    row.push_back(fmt::format("{:.2f}", gradient.cosine));
    row.push_back(fmt::format("{:.2f}", relative_error(gradient)));
  }
  return row;
}

}  // namespace
}  // namespace cgpo

int main(int argc, char** argv) {
  try {
    cgpo::ThreadPool pool(1);
    std::vector<std::vector<std::string>> rows = {{"iterations", "state error, 1 step", "20 steps", "true ∇J_R, length",
                                                   "cosine", "relative error", "true ∇J_C, length", "cosine",
                                                   "relative error"}};
    for (int i = 1; i < argc; ++i) rows.push_back(cgpo::row_of(argv[i], pool));
    fmt::print("{}", cgpo::markdown_table(rows));
  } catch (const cgpo::UserError& error) {
    fmt::print(stderr, "model_gradient: {}\n", error.what());
    return 2;
  }
}
