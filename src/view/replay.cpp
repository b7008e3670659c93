#include "cgpo/view/replay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>

#include "cgpo/base/base64.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/judge/curves.hpp"
#include "cgpo/judge/evaluation.hpp"
#include "cgpo/nn/row_store.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "pages read little-endian numbers");

Json vector_json(const Vec3<double>& v) { return page_numbers(v.at); }

// ---- policies ------------------------------------------------------------------------------------------------------

int iteration_of(const fs::path& path, const Configuration& configuration) {
  return cgpo::iteration_of(read_checkpoint(path, configuration));
}

std::string describe(const KeptPolicy& policy) {
  const std::string after = policy.iteration == 0   ? std::string("untrained")
                            : policy.iteration == 1 ? std::string("after 1 iteration")
                                                    : fmt::format("after {} iterations", policy.iteration);
  return policy.role == "best" ? fmt::format("best feasible, {}", after) : after;
}

// The one nearest to half of the way, if it is neither the first nor the last.
void name_roles(std::vector<KeptPolicy>& policies) {
  const int last = policies.back().iteration;
  KeptPolicy* middle = nullptr;
  const auto distance = [&](const KeptPolicy& policy) { return std::abs(2 * policy.iteration - last); };
  for (KeptPolicy& policy : policies) {
    if (policy.iteration == 0 || policy.iteration == last || policy.role == "best") continue;
    if (middle == nullptr || distance(policy) < distance(*middle)) middle = &policy;
  }
  if (middle != nullptr) middle->role = "middle";
  if (policies.front().iteration == 0) policies.front().role = "start";
  policies.back().role = "end";
}

// ---- numbers in 16 bits --------------------------------------------------------------------------------------------

// Values as whole numbers of a common unit: value = offset + scale · number, for each of `channels` in turn.
Json quantise(const std::vector<double>& values, std::size_t channels) {
  std::vector<double> low(channels, std::numeric_limits<double>::infinity());
  std::vector<double> high(channels, -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < values.size(); ++i) {
    low[i % channels] = std::min(low[i % channels], values[i]);
    high[i % channels] = std::max(high[i % channels], values[i]);
  }
  std::vector<double> offset(channels, 0.0);
  std::vector<double> scale(channels, 1.0);
  for (std::size_t c = 0; c < channels && !values.empty(); ++c) {
    offset[c] = 0.5 * (low[c] + high[c]);
    if (high[c] > low[c]) scale[c] = 0.5 * (high[c] - low[c]) / 32767.0;
  }
  std::vector<std::int16_t> numbers;
  numbers.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    numbers.push_back(static_cast<std::int16_t>(std::lround((values[i] - offset[i % channels]) / scale[i % channels])));
  }
  Json result;
  result["offset"] = offset;
  result["scale"] = scale;
  result["data"] = encode_base64(std::as_bytes(std::span<const std::int16_t>(numbers)));
  return result;
}

// ---- pictures ------------------------------------------------------------------------------------------------------

constexpr const char* kGeomTypes[] = {"plane",     "heightfield", "sphere", "capsule",
                                      "ellipsoid", "cylinder",    "box",    "mesh"};  // in the order of GeomType

// A robot's geoms and, frame by frame, where the bodies are that carry them.
class RobotPicture {
 public:
  explicit RobotPicture(const Robot& robot) : robot_(robot), model_(*robot.model) {
    for (const Geom& geom : model_.geoms) {
      if (model_.bodies[geom.body].link >= 0 && std::find(bodies_.begin(), bodies_.end(), geom.body) == bodies_.end()) {
        bodies_.push_back(geom.body);
      }
    }
    if (robot.engine == Engine::kMujoco) engine_ = std::make_unique<MujocoEngine>(make_mujoco_engine(robot));
  }

  void describe(Json& replay) const {
    replay["bodies"] = Json::array();
    for (const int body : bodies_) replay["bodies"].push_back(model_.bodies[body].name);
    replay["geoms"] = Json::array();
    for (const Geom& geom : model_.geoms) replay["geoms"].push_back(geom_json(geom));
    replay["markers"] = Json::array();
    for (const Marker& marker : robot_.markers) {
      replay["markers"].push_back({{"name", marker.name}, {"radius", marker.radius}});
    }
  }

  void draw(const RecordedEpisode& episode, Json& target) {
    std::vector<double> positions;
    std::vector<double> turns;
    std::vector<std::vector<ContactForce>> forces;
    for (const std::vector<double>& values : episode.states) {
      const RobotState<double> state(model_, std::span<const double>(values));
      const Kinematics<double> kinematics = state.kinematics();
      for (const int body : bodies_) {
        const Vec3<double> position = point_position(model_, kinematics, body);
        const Quat<double> turn = quaternion_of(body_rotation(model_, kinematics, body));
        positions.insert(positions.end(), position.at.begin(), position.at.end());
        turns.insert(turns.end(), turn.begin(), turn.end());
      }
      forces.push_back(forces_at(state, kinematics));
    }
    target["positions"] = quantise(positions, 3);
    target["turns"] = quantise(turns, 4);
    target["forces"] = forces_json(forces);
    target["markers"] = Json::array();
    const RobotState<double> start(model_, std::span<const double>(episode.states.front()));
    for (const Marker& marker : robot_.markers) {
      const auto extra = static_cast<std::size_t>(marker.extra);
      target["markers"].push_back(vector_json(vec3(start.extra[extra], start.extra[extra + 1], marker.height)));
    }
  }

 private:
  Json geom_json(const Geom& geom) const {
    const Body& body = model_.bodies[geom.body];
    Pose pose{geom.position, rotation_of(geom.orientation)};
    if (body.link < 0) pose = body.in_link * pose;  // fixed to the world
    const auto carrier = std::find(bodies_.begin(), bodies_.end(), geom.body);
    Json result;
    result["name"] = geom.name;
    result["type"] = kGeomTypes[static_cast<std::size_t>(geom.type)];
    result["body"] = carrier == bodies_.end() ? -1 : static_cast<int>(carrier - bodies_.begin());
    result["size"] = vector_json(geom.size);
    result["position"] = vector_json(pose.position);
    result["turn"] = page_numbers(quaternion_of(pose.rotation));
    result["rgba"] = page_numbers(geom.rgba);
    return result;
  }

  std::vector<ContactForce> forces_at(const RobotState<double>& state, const Kinematics<double>& kinematics) {
    std::vector<ContactForce> all;
    if (engine_) {
      const std::vector<double> no_control(static_cast<std::size_t>(model_.nu), 0.0);
      engine_->set_state(state.q, state.v, state.activation);
      engine_->forward(no_control);
      all = engine_->contact_forces();
    } else {
      all = contact_forces(model_, robot_.physics.contact, kinematics);
    }
    std::erase_if(all, [](const ContactForce& contact) { return dot(contact.force, contact.force) < 1e-12; });
    return all;
  }

  // As many places a frame as the fullest one needs; those left over have no force.
  static Json forces_json(const std::vector<std::vector<ContactForce>>& frames) {
    std::size_t slots = 0;
    for (const auto& frame : frames) slots = std::max(slots, frame.size());
    std::vector<double> values;
    for (const auto& frame : frames) {
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const ContactForce contact = slot < frame.size() ? frame[slot] : ContactForce{};
        values.insert(values.end(), contact.position.at.begin(), contact.position.at.end());
        values.insert(values.end(), contact.force.at.begin(), contact.force.at.end());
      }
    }
    Json result = quantise(values, 6);
    result["slots"] = slots;
    return result;
  }

  const Robot& robot_;
  const Model& model_;
  std::vector<int> bodies_;               // that move and carry geoms
  std::unique_ptr<MujocoEngine> engine_;  // of a robot that moves by MuJoCo
};

// Reward and costs of a task with one state, over that state: one step from each of many places, without action.
Json curve_json(const AlgorithmContext& context, const std::vector<int>& costs, double low, double high) {
  constexpr int kPoints = 240;
  const std::unique_ptr<Simulator<float>> simulator =
      make_simulator<float>(context.task, costs, context.settings.kernel.backend);
  const TaskSpec& spec = context.task->spec();
  RowStore<float> state(1, kPoints), next(1, kPoints), action(spec.actions, kPoints);
  RowStore<float> observation(spec.observations, kPoints), signals(simulator->signals(), kPoints);
  std::vector<float> paper(kPoints), ended(kPoints);
  std::vector<double> x;
  for (int i = 0; i < kPoints; ++i) {
    x.push_back(low + (high - low) * i / (kPoints - 1));
    state.view().row(0)[i] = static_cast<float>(x.back());
  }
  SimulatorScratch<float> scratch;
  simulator->step({.state = std::as_const(state).view(),
                   .action = std::as_const(action).view(),
                   .next_state = next.view(),
                   .observation = observation.view(),
                   .signals = signals.view(),
                   .reward_paper = paper.data(),
                   .ended = ended.data()},
                  kPoints, scratch);
  Json result;
  result["x"] = page_numbers(x);
  result["signals"] = Json::array();
  for (int k = 0; k < simulator->signals(); ++k) {
    const float* const row = signals.view().row(k);
    result["signals"].push_back(page_numbers(std::vector<double>(row, row + kPoints)));
  }
  return result;
}

// The sums so far, one more than there are steps.
Json running_sums(const std::vector<double>& values) {
  std::vector<double> sums = {0.0};
  for (const double value : values) sums.push_back(sums.back() + value);
  return page_numbers(sums);
}

Json episode_json(const RecordedEpisode& episode) {
  Json result;
  result["frames"] = episode.states.size();
  result["length"] = episode.length;
  result["ended"] = episode.ended;
  result["diverged"] = episode.diverged;
  result["sums"] = Json::array();
  for (const std::vector<double>& signal : episode.signals) result["sums"].push_back(running_sums(signal));
  return result;
}

Json states_json(const RecordedEpisode& episode) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < episode.states.front().size(); ++i) {
    std::vector<double> row;
    for (const std::vector<double>& state : episode.states) row.push_back(state[i]);
    rows.push_back(page_numbers(row));
  }
  return rows;
}

}  // namespace

std::vector<KeptPolicy> find_policies(const RunPaths& run, const Configuration& configuration) {
  std::map<int, KeptPolicy> by_iteration;
  std::error_code ignored;
  if (fs::exists(run.best(), ignored)) {
    const int iteration = iteration_of(run.best(), configuration);
    by_iteration[iteration] = {"", "best", iteration, run.best()};
  }
  for (const int iteration : find_snapshots(run)) {
    by_iteration.try_emplace(iteration, KeptPolicy{"", "", iteration, run.snapshot(iteration)});
  }
  if (by_iteration.empty() || fs::exists(run.checkpoint(), ignored)) {
    const int iteration = iteration_of(run.checkpoint(), configuration);
    by_iteration.try_emplace(iteration, KeptPolicy{"", "", iteration, run.checkpoint()});
  }
  std::vector<KeptPolicy> policies;
  for (auto& [iteration, policy] : by_iteration) policies.push_back(std::move(policy));
  for (KeptPolicy& policy : policies) policy.label = describe(policy);
  name_roles(policies);
  return policies;
}

Json replay_json(const RunPaths& run, const Configuration& configuration, const ReplayOptions& options,
                 ThreadPool& pool) {
  const std::shared_ptr<const Task> task = task_of(configuration);
  const Robot* const robot = task->find_robot();
  const AlgorithmContext context{task, configuration.settings,
                                 options.seed ? static_cast<std::uint64_t>(*options.seed) : configuration.seed, &pool};
  const Constraints constraints = resolve_constraints(*task, configuration.settings);
  const TaskSpec& spec = task->spec();

  Json replay;
  replay["kind"] = robot != nullptr ? "robot" : spec.states == 1 ? "curve" : "states";
  replay["period"] = page_number(spec.dt * spec.substeps);
  replay["seed"] = context.seed;
  replay["noise"] = options.noise;
  replay["costs"] = Json::array();
  for (std::size_t i = 0; i < constraints.names.size(); ++i) {
    replay["costs"].push_back({{"name", constraints.names[i]}, {"limit", page_number(constraints.limits[i])}});
  }
  std::unique_ptr<RobotPicture> picture;
  if (robot != nullptr) {
    picture = std::make_unique<RobotPicture>(*robot);
    picture->describe(replay);
  }

  replay["policies"] = Json::array();
  double low = 0.0;
  double high = 0.0;
  for (const KeptPolicy& kept : find_policies(run, configuration)) {
    Json policy = {{"label", kept.label}, {"role", kept.role}, {"iteration", kept.iteration}};
    policy["episodes"] = Json::array();
    const Tensors tensors = read_checkpoint(kept.path, configuration);
    for (const RecordedEpisode& episode : record_episodes(context, tensors, options.episodes, !options.noise)) {
      Json entry = episode_json(episode);
      if (picture) {
        picture->draw(episode, entry);
      } else {
        entry["states"] = states_json(episode);
        for (const std::vector<double>& state : episode.states) {
          low = std::min(low, state.front());
          high = std::max(high, state.front());
        }
      }
      policy["episodes"].push_back(std::move(entry));
    }
    replay["policies"].push_back(std::move(policy));
  }
  if (replay["kind"] == "curve") {
    const double room = 0.15 * std::max(high - low, 1e-3);
    replay["curve"] = curve_json(context, constraints.costs, low - room, high + room);
  }
  return replay;
}

}  // namespace cgpo
