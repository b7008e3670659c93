#include "contact_measures.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/graph/differentiate.hpp"
#include "cgpo/tasks/robots/models.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo::contact {
namespace {

constexpr int kWander = 20;  // window starts are spread over this many random steps
constexpr double kPeriod = 0.05;
constexpr double kReferenceWindows = 512.0;

Model load(const Subject& subject) {
  return load_model_from_text(std::string(model_text(subject.robot)), subject.robot);
}

Options without_end(const Subject& subject) {
  Options options = subject.options;
  if (subject.robot == "ant") options.emplace_back("ending", std::string("none"));
  return options;
}

std::vector<Vec3<double>> lowest_points(const Model& model, const std::vector<double>& state) {
  const auto q = std::span<const double>(state).first(static_cast<std::size_t>(model.nq));
  const auto v = std::span<const double>(state).subspan(q.size(), static_cast<std::size_t>(model.nv));
  const Kinematics<double> kinematics = forward_kinematics<double>(model, q, v, DofAxes::kTree);
  std::vector<Vec3<double>> points;
  for (const ContactPoint& point : model.contacts) {
    Vec3<double> position = point_position(model, kinematics, point.body, point.body_position);
    position[2] -= point.radius + point.margin + point.plane_offset;
    points.push_back(position);
  }
  return points;
}

double lowest(const std::vector<Vec3<double>>& points) {
  double result = points.front()[2];
  for (const Vec3<double>& point : points) result = std::min(result, point[2]);
  return result;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// States of random motion, one a lane, each after another number of steps.
template <class Real>
std::vector<Real> window_starts(const std::shared_ptr<const Task>& task, int count, double amplitude) {
  Swarm<Real> swarm(task, {}, count, 17);
  std::vector<Real> starts = swarm.states();
  const auto lanes = static_cast<std::size_t>(count);
  for (int t = 1; t <= kWander; ++t) {
    swarm.step(amplitude);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (static_cast<int>(i % lanes) % kWander + 1 == t) starts[i] = swarm.states()[i];
    }
  }
  return starts;
}

// The largest singular value of a matrix given by columns.
double largest_singular_value(const std::vector<std::vector<double>>& columns) {
  std::vector<double> x(columns.size(), 1.0);
  double value = 0.0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    std::vector<double> y(columns.front().size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += columns[j][i] * x[j];
    }
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = 0.0;
      for (std::size_t i = 0; i < y.size(); ++i) x[j] += columns[j][i] * y[i];
    }
    double square = 0.0;
    for (const double entry : x) square += entry * entry;
    value = std::sqrt(std::sqrt(square));  // |JᵀJ x| → σ²
    for (double& entry : x) entry /= std::sqrt(square);
  }
  return value;
}

}  // namespace

int count_diverged(const Subject& subject, int lanes, int steps) {
  const auto task = task_with(subject.robot, without_end(subject));
  Swarm<float> swarm(task, {}, lanes, 3);
  std::vector<bool> bad(static_cast<std::size_t>(lanes));
  const auto bound = static_cast<float>(task->spec().divergence_bound);
  for (int t = 0; t < steps; ++t) {
    swarm.step(1.0);
    for (std::size_t i = 0; i < swarm.states().size(); ++i) {
      if (!(std::abs(swarm.states()[i]) <= bound)) bad[i % bad.size()] = true;
    }
  }
  return static_cast<int>(std::count(bad.begin(), bad.end(), true));
}

RandomMotion random_motion(const Subject& subject, int lanes) {
  const auto task = task_with(subject.robot, subject.options);
  const Model model = load(subject);
  Swarm<float> swarm(task, {task->cost_index("speed"), task->cost_index("height")}, lanes);
  std::vector<bool> over(static_cast<std::size_t>(lanes));
  RandomMotion sum;
  for (int t = 0; t < task->spec().horizon; ++t) {
    swarm.step(1.0);
    for (int lane = 0; lane < lanes; ++lane) {
      if (over[static_cast<std::size_t>(lane)]) continue;
      sum.length += 1.0;
      sum.speed_sum += swarm.signal(1, lane);
      sum.height += swarm.signal(2, lane);
      sum.airborne += lowest(lowest_points(model, swarm.state(lane))) > 0.0 ? 1.0 : 0.0;
      over[static_cast<std::size_t>(lane)] = swarm.ended(lane);
    }
  }
  return {sum.length / lanes, sum.speed_sum / lanes, sum.speed_sum / sum.length, sum.height / sum.length,
          sum.airborne / sum.length};
}

Rest rest(const Subject& subject, int lanes) {
  const auto task = task_with(subject.robot, subject.options);
  const Model model = load(subject);
  Swarm<float> swarm(task, {task->cost_index("speed"), task->cost_index("height")}, lanes);
  std::vector<bool> over(static_cast<std::size_t>(lanes));
  std::vector<std::vector<Vec3<double>>> early;
  Rest sum;
  for (int t = 0; t < 300; ++t) {
    swarm.step(0.0);
    for (int lane = 0; lane < lanes; ++lane) {
      if (t == 199) early.push_back(lowest_points(model, swarm.state(lane)));
      if (swarm.ended(lane)) over[static_cast<std::size_t>(lane)] = true;
      if (t < task->spec().horizon) sum.speed_sum += swarm.signal(1, lane);
    }
  }
  int alive = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    if (over[static_cast<std::size_t>(lane)]) continue;
    ++alive;
    const std::vector<Vec3<double>> points = lowest_points(model, swarm.state(lane));
    sum.height += swarm.signal(2, lane);
    sum.depth -= 1e3 * lowest(points);
    double moved = 0.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3<double> change = points[i] - early[static_cast<std::size_t>(lane)][i];
      moved = std::max(moved, std::hypot(change[0], change[1]));
    }
    sum.creep += 1e3 * moved / (100 * kPeriod);
  }
  return {static_cast<double>(alive) / lanes, sum.speed_sum / lanes, sum.height / alive, sum.depth / alive,
          sum.creep / alive};
}

std::vector<Gain> window_gains(const Subject& subject, int lanes, int longest) {
  const auto task = task_with(subject.robot, without_end(subject));
  const TaskSpec& spec = task->spec();
  Swarm<double> swarm(task, {}, lanes);
  swarm.set_states(window_starts<double>(task, lanes, 1.0));
  const std::unique_ptr<Kernel<double>> tangent = compile<double>(differentiate_forward(step_graph(*task, {})));
  // Lane (direction, environment): each environment is pushed along every unit vector of its state.
  const int n = spec.states;
  const auto columns = static_cast<std::size_t>(lanes);
  const auto all = columns * static_cast<std::size_t>(n);
  std::vector<double> inputs(static_cast<std::size_t>(2 * (n + spec.actions)) * all);
  std::vector<double> outputs(static_cast<std::size_t>(tangent->outputs()) * all);
  std::vector<const double*> in;
  std::vector<double*> out;
  for (std::size_t i = 0; i < inputs.size(); i += all) in.push_back(&inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); i += all) out.push_back(&outputs[i]);
  const auto spread = [&](const std::vector<double>& from, int rows, int first_row) {
    for (int r = 0; r < rows; ++r) {
      for (std::size_t l = 0; l < all; ++l) {
        inputs[static_cast<std::size_t>(first_row + r) * all + l] =
            from[static_cast<std::size_t>(r) * columns + l % columns];
      }
    }
  };
  const std::size_t tangents = static_cast<std::size_t>(n + spec.actions) * all;
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) {
    for (std::size_t l = 0; l < columns; ++l) inputs[tangents + r * all + r * columns + l] = 1.0;
  }
  KernelScratch scratch;
  std::vector<Gain> gains;
  for (int h = 1; h <= longest; ++h) {
    spread(swarm.states(), n, 0);
    swarm.step(1.0);
    spread(swarm.actions(), spec.actions, n);
    tangent->run(in.data(), out.data(), static_cast<int>(all), scratch);
    std::copy(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(n) * all),
              inputs.begin() + static_cast<std::ptrdiff_t>(tangents));
    std::vector<double> values;
    for (std::size_t lane = 0; lane < columns; ++lane) {
      std::vector<std::vector<double>> jacobian;
      for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
        std::vector<double>& column = jacobian.emplace_back();
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
          column.push_back(outputs[i * all + j * columns + lane]);
        }
      }
      values.push_back(largest_singular_value(jacobian));
    }
    gains.push_back({median(values), *std::max_element(values.begin(), values.end())});
  }
  return gains;
}

double signal_to_noise(const Subject& subject, int windows, int h, double amplitude) {
  const auto task = task_with(subject.robot, without_end(subject));
  const TaskSpec& spec = task->spec();
  Swarm<double> swarm(task, {}, windows);
  swarm.set_states(window_starts<double>(task, windows, amplitude));
  std::vector<std::vector<double>> states, actions;
  for (int t = 0; t < h; ++t) {
    states.push_back(swarm.states());
    swarm.step(amplitude);
    actions.push_back(swarm.actions());
  }
  const auto lanes = static_cast<std::size_t>(windows);
  const auto rows = [windows](std::vector<double>& values) { return Rows<double>(values.data(), windows); };
  const auto size = [lanes](int count) { return std::vector<double>(static_cast<std::size_t>(count) * lanes); };
  std::vector<double> later = size(spec.states), earlier = size(spec.states), observed = size(spec.observations),
                      weight(lanes, 1.0), action = size(spec.actions), sum = size(spec.actions);
  SimulatorScratch<double> scratch;
  for (int t = h - 1; t >= 0; --t) {
    const auto at = static_cast<std::size_t>(t);
    swarm.simulator().pull_back(
        {rows(states[at]), rows(actions[at]), rows(later), rows(observed), rows(weight), rows(earlier), rows(action)},
        windows, scratch);
    std::swap(later, earlier);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += action[i];
  }
  double signal = 0.0;
  double noise = 0.0;
  for (std::size_t i = 0; i < sum.size(); i += lanes) {
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t l = 0; l < lanes; ++l) mean += sum[i + l] / windows;
    for (std::size_t l = 0; l < lanes; ++l) square += std::pow(sum[i + l] - mean, 2);
    signal += mean * mean;
    noise += square / (windows - 1.0) / kReferenceWindows;
  }
  return std::sqrt(signal / noise);
}

std::array<Distance, 3> distances(const Subject& one, const Subject& other, int lanes) {
  const Model model = load(one);
  Swarm<double> a(task_with(one.robot, without_end(one)), {}, lanes);
  Swarm<double> b(task_with(other.robot, without_end(other)), {}, lanes);
  std::array<Distance, 3> result;
  std::size_t mark = 0;
  for (int t = 1; t <= 20; ++t) {
    a.step(1.0);
    b.step(1.0);
    if (t != 2 && t != 10 && t != 20) continue;
    std::vector<double> joints, root;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::vector<double> x = a.state(lane);
      const std::vector<double> y = b.state(lane);
      double square = 0.0;
      int count = 0;
      for (const Joint& joint : model.joints) {
        if (!joint.limited) continue;
        square += std::pow(x[static_cast<std::size_t>(joint.q)] - y[static_cast<std::size_t>(joint.q)], 2);
        ++count;
      }
      joints.push_back(std::sqrt(square / count));
      // Position of the torso: (x, z) of a planar robot, (x, y, z) of a floating one.
      root.push_back(std::hypot(x[0] - y[0], x[1] - y[1], model.nq > model.nv ? x[2] - y[2] : 0.0));
    }
    result[mark++] = {median(joints), median(root)};
  }
  return result;
}

}  // namespace cgpo::contact
