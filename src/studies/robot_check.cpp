#include "cgpo/studies/robot_check.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string_view>

namespace cgpo {
namespace {

constexpr int kMostStates = 1000;
constexpr double kMostEntries = 4e7;  // of mass matrices, over all states: about a second

// A larger robot is not stepped: its kernel alone would take minutes.
constexpr std::size_t kMostContacts = 20'000;
constexpr int kMostVelocities = 600;

int affordable_states(const Model& model) {
  const double entries = std::max(1.0, static_cast<double>(model.nv) * model.nv);
  return static_cast<int>(std::clamp(kMostEntries / entries, 1.0, static_cast<double>(kMostStates)));
}

}  // namespace

double worst_error(const ModelComparison& error) {
  double worst = 0.0;
  for (const double value : {error.mass_matrix, error.bias, error.passive, error.acceleration}) {
    if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
    worst = std::max(worst, value);
  }
  return worst;
}

bool agrees(const ModelComparison& error) { return worst_error(error) <= kModelTolerance; }

RobotCheck check_robot(const std::string& file, const RobotCheckRequest& request) {
  return check_robot(file, MujocoEngine::from_file(file), request);
}

RobotCheck check_robot(const std::string& file, MujocoEngine engine, const RobotCheckRequest& request) {
  RobotCheck result;
  const auto model = std::make_shared<const Model>(load_model(file));
  result.model = model;
  result.states = request.states.value_or(affordable_states(*model));
  result.whole = compare_with_mujoco(*model, engine, result.states, request.seed);
  result.supported = result.whole;
  if (!result.accepted()) {
    engine.leave_out_unsupported();
    result.supported = compare_with_mujoco(*model, engine, result.states, request.seed);
  }
  if (request.steps > 0 && model->nv <= kMostVelocities &&
      model->contacts.size() + model->pairs.size() <= kMostContacts) {
    const TrialRequest trial{.steps = request.steps, .seed = request.seed};
    result.trial = try_robot(model, trial);
    if (result.trial->diverged > 0) {
      MujocoEngine whole = MujocoEngine::from_file(file);
      result.mujoco_diverged = count_mujocos_divergences(*model, whole, trial);
    }
  }
  return result;
}

namespace {

// Of "… and 7 more such pairs".
int count_more(std::string_view element) {
  const std::size_t end = element.rfind(" more such pair");
  const std::size_t begin = element.rfind(" and ", end);
  if (end == std::string_view::npos || begin == std::string_view::npos) return 0;
  const std::string_view digits = element.substr(begin + 5, end - begin - 5);
  int number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() ? number : 0;
}

// Without the geom or body that is the example.
std::string_view without_example(std::string_view kind) {
  std::string_view rest = kind.substr(0, std::min(kind.find(" geom "), kind.find(" body ")));
  if (rest.size() < kind.size() && rest.ends_with(',')) rest.remove_suffix(1);
  return rest;
}

}  // namespace

std::map<std::string, int> count_kinds(const std::vector<std::string>& unsupported) {
  // "geom 'hand': contact of a box with a mesh, geom 3 of body 'arm' and 2 more such pairs", and "contact between
  // bodies at more than 500 points: geom 'hand' with geom 'foot' and 2 more such pairs"
  std::map<std::string, int> kinds;
  for (const std::string& element : unsupported) {
    const bool kind_first = element.starts_with("contact ") || element.starts_with("option ");
    const std::size_t colon = element.find(": ");
    std::string kind = element;
    if (colon != std::string::npos) kind = kind_first ? element.substr(0, colon) : element.substr(colon + 2);
    if (!kind_first && !kind.starts_with("contact ")) {
      kind = fmt::format("{}: {}", std::string_view(element).substr(0, element.find(' ')), kind);
    }
    kinds[std::string(without_example(kind))] += 1 + count_more(element);
  }
  return kinds;
}

}  // namespace cgpo
