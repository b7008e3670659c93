// What a simulator outside says: its header, and its answers to a reset and a step.
#include "cgpo/config/value.hpp"
#include "cgpo/tasks/outside/protocol.hpp"

#include "fuzz.hpp"

using namespace cgpo;

namespace {

void read_header(std::string_view line) {
  const auto spec = fuzz::accepted([&] { return parse_simulator_header(std::string(line)); });
  if (!spec) return;
  fuzz::require(spec->observations > 0 && spec->actions > 0 && spec->horizon > 0, "a task has sizes");
  fuzz::require(!spec->differentiable, "nothing outside has derivatives");
  for (const auto& [key, text] : spec->defaults) {
    fuzz::accepted([&, name = key, value = text] { return make_assignment(name, value, "its header"); });
  }
}

void read_answers(fuzz::Choices& choices) {
  TaskSpec spec;
  spec.observations = 1 + static_cast<int>(choices.below(5));
  spec.costs.resize(choices.below(3), {.name = "c", .limit = 1.0});
  for (CostSpec& cost : spec.costs) cost.stops_at_end = choices.below(2) == 0;
  spec.reward_stops_at_end = choices.below(2) == 0;
  const std::size_t count = 1 + choices.below(4);
  const std::size_t observations = count * static_cast<std::size_t>(spec.observations);
  const std::size_t results = observations + count * (spec.costs.size() + 2);
  std::vector<float> answer(results);
  std::vector<double> taken(results, NAN);
  std::vector<char> ended(count, 0);
  for (float& value : answer) value = choices.integer<float>();
  if (fuzz::passes([&] { take_reset_answer(spec, 0, std::span(answer).first(observations), taken); })) {
    for (std::size_t i = 0; i < observations; ++i) fuzz::require(std::isfinite(taken[i]), "observations are finite");
  }
  for (int step = 0; step < 3; ++step) {
    if (!fuzz::passes([&] { take_step_answer(spec, 0, answer, ended, taken); })) return;
    for (const double value : taken) fuzz::require(std::isfinite(value), "results are finite");
    for (float& value : answer) value = choices.integer<float>();
  }
}

}  // namespace

CGPO_FUZZ(input) {
  if (!input.empty() && input.front() != 'a') return read_header(input);
  fuzz::Choices choices(input.substr(input.empty() ? 0 : 1));
  read_answers(choices);
}
