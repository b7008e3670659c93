#include "cgpo/config/listing.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/unconstrained.hpp"

namespace cgpo {
namespace {

Json describe(const Task& described) {
  const TaskSpec& spec = described.spec();
  Json task;
  task["name"] = spec.name;
  task["summary"] = spec.summary;
  task["observations"] = spec.observations;
  task["actions"] = spec.actions;
  task["horizon"] = spec.horizon;
  task["substeps"] = spec.substeps;
  task["dt"] = spec.dt;
  task["costs"] = Json::array();
  for (const CostSpec& cost : spec.costs) {
    Json entry;
    entry["name"] = cost.name;
    entry["limit"] = cost.limit;
    entry["standard"] = cost.standard;
    if (const UnconstrainedCost* free = find_unconstrained_cost(spec.name, cost.name)) {
      entry["unconstrained"] = {{"mean", free->mean},
                                {"se", free->se},
                                {"algorithm", free->algorithm},
                                {"seeds", free->seeds},
                                {"steps", free->steps}};
    }
    task["costs"].push_back(std::move(entry));
  }
  task["differentiable"] = has_derivative(described);
  return task;
}

// What an outside simulator is, only itself can say.
Json describe(const TaskEntry& entry) {
  Json task;
  task["name"] = entry.name;
  task["summary"] = entry.summary;
  task["needs"] = entry.needs;
  for (const char* unknown : {"observations", "actions", "horizon", "substeps", "dt"}) task[unknown] = nullptr;
  task["costs"] = Json::array();
  task["differentiable"] = false;
  return task;
}

// JSON has no infinity: a limit that is none is null.
Json to_json(const Value& value) {
  if (const auto* list = std::get_if<std::vector<Value>>(&value.data)) {
    Json items = Json::array();
    for (const Value& item : *list) items.push_back(to_json(item));
    return items;
  }
  if (const auto* number = std::get_if<double>(&value.data); number != nullptr && !std::isfinite(*number)) return {};
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return *integer;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::get<std::string>(value.data);
}

Json to_json(const ListedSetting& setting) {
  Json result;
  result["name"] = setting.name;
  result["type"] = setting.type;
  result["default"] = to_json(setting.value);
  result["range"] = setting.range;
  result["meaning"] = setting.meaning;
  result["origin"] = setting.origin.who.empty() ? "program" : setting.origin.who;
  if (!setting.origin.why.empty()) result["why"] = setting.origin.why;
  return result;
}

}  // namespace

bool has_derivative(const Task& task) { return task.spec().differentiable || task.twin() != nullptr; }

Json list_of_tasks() {
  Json result;
  result["tasks"] = Json::array();
  for (const TaskEntry& entry : task_registry())
    result["tasks"].push_back(entry.needs.empty() ? describe(*standard_task(entry.name)) : describe(entry));
  return result;
}

Json list_of_algorithms() {
  Json result;
  result["algorithms"] = Json::array();
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    Json algorithm;
    algorithm["name"] = entry.name;
    algorithm["summary"] = entry.summary;
    result["algorithms"].push_back(std::move(algorithm));
  }
  return result;
}

Json list_of_settings(const std::vector<ListedSetting>& settings) {
  Json result;
  result["settings"] = Json::array();
  for (const ListedSetting& setting : settings) result["settings"].push_back(to_json(setting));
  return result;
}

}  // namespace cgpo
