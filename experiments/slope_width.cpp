// How wide the smooth step may be whose slope stands for that of a velocity task's cost: the twin's gradients, with
// steps of several widths, held against score functions of what really was counted. A row for each run and width.
//   slope_width EPISODES WIDTHS RUN…      WIDTHS as shares of the speed limit: 0.03,0.1,0.3
#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "cgpo/base/error.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/run/trained_policy.hpp"
#include "cgpo/studies/twin_gradient.hpp"

namespace cgpo {
namespace {

constexpr int kWidthBatches = 8;

std::string cosine_text(const GradientCosine& of) { return fmt::format("{:.2f} ± {:.2f}", of.cosine, of.error); }

std::vector<std::string> row_of_width(const TrainedPolicy& policy, int episodes, double share, ThreadPool& pool) {
  Configuration configuration = policy.configuration();
  const TaskOptions standard(configuration.task_options.known());  // a tenth of the limit
  const double width = 10.0 * share * standard.number("slope_width");
  configuration.task_options.set("slope_width", width);
  configuration.made = nullptr;  // of the other width
  configuration.made = task_of(configuration);
  AlgorithmContext context = context_of(configuration, pool);
  context.settings.environments = episodes / kWidthBatches;
  ActorCritic<float> parts(context);
  parts.load_policy(policy.checkpoint());
  parts.load_critics(policy.checkpoint());
  const EpisodeKey key{.seed = context.seed, .reset = Purpose::kEvalReset, .noise = Purpose::kEvalNoise};
  const std::vector<GradientCosine> cosines = compare_with_scores(parts, key, kWidthBatches);
  return {configuration.task, fmt::format("{:.3f}", width), cosine_text(cosines[0]), cosine_text(cosines[1])};
}

}  // namespace
}  // namespace cgpo

int main(int argc, char** argv) {
  try {
    if (argc < 4) throw cgpo::UserError("usage: slope_width EPISODES WIDTHS RUN...");
    cgpo::ThreadPool pool(1);
    std::vector<std::vector<std::string>> rows = {{"task", "width, m/s", "return", "cost"}};
    for (int i = 3; i < argc; ++i) {
      const cgpo::TrainedPolicy policy = cgpo::TrainedPolicy::load(argv[i]);
      std::istringstream widths(argv[2]);
      for (std::string share; std::getline(widths, share, ',');)
        rows.push_back(cgpo::row_of_width(policy, std::stoi(argv[1]), std::stod(share), pool));
    }
    fmt::print("{}", cgpo::markdown_table(rows));
  } catch (const cgpo::UserError& error) {
    fmt::print(stderr, "slope_width: {}\n", error.what());
    return 2;
  }
}
