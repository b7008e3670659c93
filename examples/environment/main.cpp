// A simulator of one's own in C++, of which nothing is known but reset and step: docs/guide/your-own-simulator.md.
#include <algorithm>
#include <cmath>
#include <random>

#include "cgpo/cli/command_line.hpp"
#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/registry.hpp"

// Water flows out of a tank through a hole; a pump fills it. The level should stay near 1, and pumping costs.
class Tank final : public cgpo::Environment {
 public:
  void reset(std::uint64_t seed, std::span<double> observation) override {
    std::mt19937_64 random(seed);
    level_ = std::uniform_real_distribution<double>(0.2, 1.8)(random);
    observation[0] = level_;
  }

  Step step(std::span<const double> action, std::span<double> observation, std::span<double> costs) override {
    const double pump = 0.5 * (action[0] + 1.0);
    level_ = std::max(0.0, level_ + 0.1 * (1.6 * pump - 0.6 * std::sqrt(level_)));
    observation[0] = level_;
    costs[0] = pump;
    return {.reward = 1.0 - (level_ - 1.0) * (level_ - 1.0), .ended = level_ > 3.0};
  }

 private:
  double level_ = 0.0;
};

cgpo::TaskEntry tank_entry() {
  cgpo::TaskSpec spec;
  spec.name = "tank";
  spec.summary = "a pump keeps the water of a leaking tank at a level, with little energy";
  spec.observations = 1;
  spec.actions = 1;
  spec.horizon = 60;
  spec.costs = {{.name = "energy", .limit = 20.0, .meaning = "what the pump gives, summed"}};
  spec.defaults = {{"iterations", "40"}, {"environments", "64"}};
  return {.name = "tank", .options = {}, .make = [spec](const cgpo::TaskOptions&) {
            return cgpo::make_environment_task(spec, [] { return std::make_unique<Tank>(); });
          }};
}

int main(int argc, char** argv) {
  cgpo::task_registry().push_back(tank_entry());
  return cgpo::run_command_line(argc, argv);
}
