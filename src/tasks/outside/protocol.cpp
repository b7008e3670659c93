#include "cgpo/tasks/outside/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "cgpo/base/error.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

int positive(const Json& header, const char* name, int most) {
  const auto found = header.find(name);
  if (found == header.end()) throw UserError("it does not say '{}'", name);
  if (!found->is_number_integer() || found->get<std::int64_t>() < 1 || found->get<std::int64_t>() > most) {
    throw UserError("'{}' must be a whole number from 1 to {}, not {}", name, most, found->dump());
  }
  return found->get<int>();
}

template <class T>
T optional_field(const Json& object, const char* name, T standard) {
  const auto found = object.find(name);
  if (found == object.end()) return standard;
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw UserError("'{}' cannot be {}", name, found->dump());
  }
}

CostSpec read_cost(const Json& cost) {
  if (!cost.is_object()) throw UserError("each of 'costs' must be an object with name and limit, not {}", cost.dump());
  CostSpec result;
  result.name = optional_field<std::string>(cost, "name", "");
  if (result.name.empty()) throw UserError("a cost has no 'name'");
  if (printable(result.name) != result.name) {
    throw UserError("the name of a cost, '{}', must be plain text", printable(result.name));
  }
  const auto limit = cost.find("limit");
  if (limit == cost.end()) throw UserError("cost '{}' has no 'limit' (null: none)", result.name);
  if (!limit->is_number() && !limit->is_null()) {
    throw UserError("'limit' of cost '{}' must be a number or null, not {}", result.name, limit->dump());
  }
  result.limit = limit->is_null() ? std::numeric_limits<double>::infinity() : limit->get<double>();
  result.stops_at_end = optional_field(cost, "stops_at_end", true);
  result.standard = optional_field(cost, "standard", true);
  result.meaning = optional_field<std::string>(cost, "meaning", "");
  return result;
}

void read_fields(const Json& header, TaskSpec& spec) {
  if (optional_field<std::string>(header, "protocol", "") != kSimulatorProtocol)
    throw UserError("'protocol' must be \"{}\"", kSimulatorProtocol);
  const int version = positive(header, "version", std::numeric_limits<int>::max());
  if (version != kSimulatorProtocolVersion)
    throw UserError("it speaks version {} of the protocol, this program version {}", version,
                    kSimulatorProtocolVersion);
  spec.name = "external";
  spec.summary = optional_field<std::string>(header, "name", "a simulator outside");
  spec.observations = positive(header, "observations", 1 << 16);
  spec.actions = positive(header, "actions", 1 << 16);
  spec.horizon = positive(header, "horizon", 1'000'000);
  spec.dt = optional_field(header, "dt", 0.0);
  spec.reward_stops_at_end = optional_field(header, "reward_stops_at_end", true);
  if (const auto costs = header.find("costs"); costs != header.end()) {
    if (!costs->is_array()) throw UserError("'costs' must be a list, not {}", costs->dump());
    for (const Json& cost : *costs) spec.costs.push_back(read_cost(cost));
  }
  if (const auto defaults = header.find("defaults"); defaults != header.end()) {
    if (!defaults->is_object()) throw UserError("'defaults' must be an object of configuration keys");
    for (const auto& [key, value] : defaults->items()) spec.defaults.emplace_back(key, value.dump());
  }
}

// Whether rewards or costs count after an end.
bool goes_on(const TaskSpec& spec) {
  return !spec.reward_stops_at_end ||
         std::any_of(spec.costs.begin(), spec.costs.end(), [](const CostSpec& cost) { return !cost.stops_at_end; });
}

}  // namespace

TaskSpec parse_simulator_header(const std::string& line) {
  const Json header = parse_json(line);
  if (!header.is_object()) {
    throw UserError("sent no header: a line of JSON was expected, not '{}'", line.substr(0, 80));
  }
  TaskSpec spec;
  try {
    read_fields(header, spec);
  } catch (const UserError& error) {
    throw UserError("sent a wrong header: {}", error.what());
  }
  spec.differentiable = false;
  // Observations are in units of its own, pascals or seconds since 1970; what is not finite ends the run.
  spec.divergence_bound = std::numeric_limits<double>::infinity();
  return spec;
}

void take_reset_answer(const TaskSpec& spec, int first, std::span<const float> answer, std::span<double> observations) {
  const auto each = static_cast<std::size_t>(spec.observations);
  for (std::size_t i = 0; i < answer.size(); ++i) {
    if (!std::isfinite(answer[i])) {
      throw UserError("sent {} as observation {} of environment {} after a reset", answer[i], i % each,
                      static_cast<std::size_t>(first) + i / each);
    }
    observations[i] = static_cast<double>(answer[i]);
  }
}

void take_step_answer(const TaskSpec& spec, int first, std::span<const float> answer, std::span<char> ended,
                      std::span<double> results) {
  const std::size_t each = results.size() / ended.size();
  const auto observed = static_cast<std::size_t>(spec.observations);
  const bool always_matters = goes_on(spec);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const bool matters = ended[i] == 0 || always_matters;
    for (std::size_t j = 0; j < each; ++j) {
      const std::size_t at = i * each + j;
      if (matters && !std::isfinite(answer[at])) {
        const std::string part = j < observed    ? fmt::format("observation {}", j)
                                 : j == observed ? std::string("reward")
                                 : j + 1 == each ? std::string("end")
                                                 : fmt::format("cost {}", spec.costs[j - observed - 1].name);
        throw UserError("sent {} as {} of environment {}", answer[at], part, static_cast<std::size_t>(first) + i);
      }
      results[at] = std::isfinite(answer[at]) ? static_cast<double>(answer[at]) : 0.0;
    }
    if (results[(i + 1) * each - 1] != 0.0) ended[i] = 1;
  }
}

}  // namespace cgpo
