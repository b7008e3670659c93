// A training inside a program of one's own: watch it, stop it, use what it learned.
#include <cstdio>
#include <exception>

#include "cgpo/judge/evaluate_policy.hpp"
#include "cgpo/run/open_run.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "which folder shall the run go to? %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    cgpo::ConfigurationRequest request;
    request.task = "function";
    request.sets = {cgpo::parse_assignment("iterations=500"), cgpo::parse_assignment("radius.margin=0.1")};

    // Trains until it is told to stop.
    cgpo::Run run = cgpo::open_run(cgpo::resolve_configuration(request), {.folder = argv[1]});
    bool enough = false;
    const cgpo::TrainingResult result = run.train(
        [&](const cgpo::LogEntry& entry, double) {
          std::printf("iteration %d: return %.2f\n", entry.report.iteration + 1, entry.report.return_mean);
          enough = entry.report.iteration + 1 >= 20;
        },
        [&] { return enough; });
    std::printf("stopped after %d iterations\n", result.iterations);

    // The policy needs nothing of the run any more.
    const cgpo::TrainedPolicy policy = cgpo::TrainedPolicy::load(argv[1]);
    const float observations[] = {-0.5F, 0.0F, 0.5F};  // three rows: the task has one observation
    for (const float action : policy.act(observations)) std::printf("action %.3f\n", static_cast<double>(action));

    const cgpo::EvaluationReport report = cgpo::evaluate(policy, {.episodes = 256});
    std::printf("%s", cgpo::to_text(report).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
