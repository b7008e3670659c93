// A whole environment step of each robot as one program, substeps unrolled, against a loop over the program of one
// substep; forwards, and with two adjoints. One thread, float, blocks of 32 environments, the fastest backend.
#include <cstdio>
#include <fmt/format.h>

#include "cgpo/cli/simulator_timing.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo::bench {
namespace {

template <class Kind>
void print_row(const std::string& name, const char* kind) {
  const auto task = standard_task(name);
  const auto start = TimingClock::now();
  auto simulator = std::make_unique<Kind>(task, std::vector<int>{0});
  const double ready = seconds_since(start);
  SimulatorTiming timing(*task, std::move(simulator));
  // In turns, the best of several: a shared machine only ever slows things down.
  double step = INFINITY;
  double back = INFINITY;
  for (int turn = 0; turn < 5; ++turn) {
    step = std::min(step, timing.step_ns());
    back = std::min(back, timing.pull_back_ns());
  }
  fmt::print("| {} | {} | {:.0f} | {} | {:.0f} | {} | {:.0f} |\n", name, kind, step,
             timing.simulator().step_operations(), back, timing.simulator().pull_back_operations(), 1e3 * ready);
  std::fflush(stdout);
}

}  // namespace
}  // namespace cgpo::bench

int main() {
  fmt::print("| robot | substeps | step, ns | operations | two adjoints, ns | operations | ready after, ms |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const char* name : {"cartpole", "reacher", "halfcheetah", "ant"}) {
    cgpo::bench::print_row<cgpo::KernelSimulator<float>>(name, "unrolled");
    cgpo::bench::print_row<cgpo::SubstepSimulator<float>>(name, "looped");
  }
}
