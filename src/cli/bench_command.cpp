// `cgpo bench`: how fast this machine simulates, differentiates and trains, beside MuJoCo in the same run.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <thread>

#include "cgpo/algorithms/staged.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/simulator_timing.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/gradient/first_order.hpp"
#include "cgpo/kernel/peak.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/robots/robot.hpp"
#include "cgpo/tasks/simulators/simulator.hpp"
#include "cgpo/updates/actor_critic.hpp"
#include "cgpo/world/transitions.hpp"
#include "cgpo/world/world_model.hpp"
#include "cgpo/world/world_simulator.hpp"

namespace cgpo {
namespace {

constexpr int kPeerEnvironments = 256;
constexpr int kPeerWindow = 10;

struct BenchRequest {
  std::vector<std::string> tasks;  // none: all of the program's own
  bool kernels = false;            // the simulation alone, beside MuJoCo
  bool windows = false;            // short windows with the policy, and their gradients
  bool training = false;           // whole iterations
  bool json = false;
};

struct BenchRow {
  std::string name;
  std::string backend;
  int threads = 1;
  std::optional<double> ns_per_substep = {}, ns_per_substep_gradient = {}, steps_per_second = {};
  std::optional<double> bound = {}, bound_gradient = {};  // share of the multiply–add bound
  std::string peer = {};
  std::optional<double> peer_ns = {}, peer_ns_gradient = {};

  std::optional<double> ratio() const { return quotient(peer_ns, ns_per_substep); }
  std::optional<double> ratio_gradient() const { return quotient(peer_ns_gradient, ns_per_substep_gradient); }
  static std::optional<double> quotient(std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional(*a / *b) : std::nullopt;
  }
};

struct MujocoTiming {
  double step_ns = 0.0;
  double derivative_ns = 0.0;
};

// mj_step and mjd_transitionFD along random motion, a new start every 20 steps.
MujocoTiming time_mujoco(const Task& task, const Robot& robot) {
  MujocoEngine engine = make_mujoco_engine(robot);
  RandomStream random(1, Purpose::kTest);
  std::vector<double> start(static_cast<std::size_t>(task.spec().states));
  std::vector<double> control(static_cast<std::size_t>(engine.nu()));
  const auto mean_ns = [&](auto call, double enough) {
    double seconds = 0.0;
    std::int64_t count = 0;
    while (seconds < enough) {
      task.reset(random, start);
      engine.set_state(
          std::span(start).first(static_cast<std::size_t>(engine.nq())),
          std::span(start).subspan(static_cast<std::size_t>(engine.nq()), static_cast<std::size_t>(engine.nv())));
      for (double& value : control) value = random.uniform(-1.0, 1.0);
      for (int t = 0; t < 20; ++t) {
        const auto begin = TimingClock::now();
        call();
        seconds += seconds_since(begin);
        ++count;
      }
    }
    return 1e9 * seconds / static_cast<double>(count);
  };
  MujocoTiming timing;
  timing.step_ns = mean_ns([&] { engine.step(control); }, 0.15);
  timing.derivative_ns = mean_ns([&] { engine.transition_derivatives(); }, 0.15);
  return timing;
}

// Whole iterations at the task's own size, each with all of its environments, after one that warms up.
double training_steps_per_second(const std::string& task, const std::string& algorithm_name, Backend backend,
                                 int threads) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = algorithm_name;
  Configuration configuration = resolve_configuration(request);
  configuration.settings.kernel.backend = backend;
  configuration.settings.batch.adaptive = false;
  ThreadPool pool(threads);
  const auto algorithm = make_algorithm(configuration.algorithm, context_of(configuration, pool));
  std::int64_t steps = algorithm->iterate().steps;
  const std::int64_t first = steps;
  const auto start = TimingClock::now();
  for (int n = 0; n < 2 || (n < 20 && seconds_since(start) < 1.5); ++n) steps = algorithm->iterate().steps;
  return static_cast<double>(steps - first) / seconds_since(start);
}

// Short windows from new starts, at the size that bench/peers gives to others: N episodes of h steps with the policy
// (forward), and both gradients by its weights. Neither critics nor updates.
struct WindowTiming {
  double forward_per_second = 0.0;
  double gradients_per_second = 0.0;
};
WindowTiming time_windows(const std::string& task, Backend backend, int threads) {
  ConfigurationRequest request;
  request.task = task;
  Configuration configuration = resolve_configuration(request);
  configuration.settings.kernel.backend = backend;
  configuration.settings.environments = kPeerEnvironments;
  configuration.settings.horizon = kPeerWindow;
  ThreadPool pool(threads);
  ActorCritic<float> parts(context_of(configuration, pool));
  FirstOrderGradient<float> gradient(*parts.simulator, parts.policy, parts.batch, /*window=*/0);
  parts.warm_up_normaliser();
  const auto per_second = [](auto call) {
    call();
    int count = 0;
    const auto start = TimingClock::now();
    while (seconds_since(start) < 1.0) {
      call();
      ++count;
    }
    return count * double{kPeerEnvironments} * kPeerWindow / seconds_since(start);
  };
  int iteration = 0;
  return {.forward_per_second = per_second([&] { parts.collect_episodes(iteration++); }),
          .gradients_per_second = per_second([&] {
            parts.collect_episodes(iteration++);
            gradient.estimate(parts.batch, parts.actor(), {}, pool);
          })};
}

// Of an iteration of mb-cgpo: the episodes, and the fit of the model to them.
struct ModelTiming {
  double episodes_per_second = 0.0;  // environment steps
  double fit_per_second = 0.0;
};
ModelTiming time_model(const std::string& task, int threads) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = "mb-cgpo";
  const Configuration configuration = resolve_configuration(request);
  ThreadPool pool(threads);
  ActorCritic<float> parts(context_of(configuration, pool));
  parts.warm_up_normaliser();
  WorldModel<float> model(transition_shape(*parts.context.task, parts.constraints.costs), configuration.settings.world);
  model.initialise(configuration.seed);
  TransitionStore training(model.shape(), configuration.settings.world.buffer);
  const TransitionStore none(model.shape(), 1);
  BatchTransitions transitions;
  const double steps = static_cast<double>(parts.horizon) * parts.batch.environments;
  const auto per_second = [&](auto call) {
    call(0);
    int count = 0;
    const auto start = TimingClock::now();
    while (count < 2 || seconds_since(start) < 1.0) call(++count);
    return count * steps / seconds_since(start);
  };
  ModelTiming result;
  result.episodes_per_second = per_second([&](int iteration) { parts.collect_episodes(iteration); });
  gather_transitions(*parts.simulator, parts.batch, /*held_every=*/0, 0, transitions);
  training.append(transitions.training);
  model.observe(transitions.training);
  // Iteration 0 has a longer fit.
  result.fit_per_second =
      per_second([&](int count) { model.fit(training, none, configuration.seed, 1 + count, pool); });
  return result;
}

void time_kernels(const std::string& name, const std::shared_ptr<const Task>& task, std::vector<BenchRow>& rows) {
  std::optional<MujocoTiming> mujoco;
  if (const Robot* robot = task->find_robot()) mujoco = time_mujoco(*task, *robot);
  for (const Backend backend : available_backends()) {
    BenchRow row{.name = name, .backend = std::string(backend_name(backend))};
    SimulatorTiming timing(*task, make_simulator<float>(task, {0}, backend));
    // Lanes in a nanosecond; taken beside the timing, since a shared machine's clock is not the same all the time.
    const double peak = 1e-9 * multiply_adds_per_second(backend);
    const double substeps = task->spec().substeps;
    row.ns_per_substep = timing.step_ns() / substeps;
    const double back = timing.pull_back_ns() / substeps;
    row.ns_per_substep_gradient = *row.ns_per_substep + back;
    row.steps_per_second = 1e9 / (substeps * *row.ns_per_substep_gradient);
    if (peak > 0.0) {
      row.bound = static_cast<double>(timing.simulator().step_operations()) / peak / (substeps * *row.ns_per_substep);
      row.bound_gradient = static_cast<double>(timing.simulator().pull_back_operations()) / peak / (substeps * back);
    }
    if (mujoco) {
      row.peer = "mujoco";
      row.peer_ns = mujoco->step_ns;
      row.peer_ns_gradient = mujoco->derivative_ns;
    }
    rows.push_back(row);
  }
}

// Of a task by name or by file, with its standard options. None: it is no task until an option says which.
std::shared_ptr<const Task> task_named(const std::string& name) {
  if (is_task_file(name)) {
    ConfigurationRequest request;
    request.task = name;
    return task_of(resolve_configuration(request));
  }
  return find_task(name).needs.empty() ? standard_task(name) : nullptr;
}

void time_task(const std::string& name, const BenchRequest& request, int threads, std::vector<BenchRow>& rows) {
  const std::shared_ptr<const Task> task = task_named(name);
  if (task == nullptr) return;
  const auto add = [&](const char* kind, std::string_view backend, double speed) {
    rows.push_back(
        {.name = name + kind, .backend = std::string(backend), .threads = threads, .steps_per_second = speed});
  };
  if (!task->spec().differentiable) {
    if (!request.training) return;
    const ModelTiming model = time_model(name, threads);
    add("-episodes", "–", model.episodes_per_second);
    add("-fit", "–", model.fit_per_second);
    add("-train", "–", training_steps_per_second(name, "mb-cgpo", Backend::kBest, threads));
    return;
  }
  if (request.kernels) time_kernels(name, task, rows);
  for (const Backend backend : available_backends()) {
    if (!request.windows) break;
    const WindowTiming windows = time_windows(name, backend, threads);
    add("-windows", backend_name(backend), windows.forward_per_second);
    add("-gradients", backend_name(backend), windows.gradients_per_second);
  }
  for (const Backend backend : available_backends()) {
    if (request.training)
      add("-train", backend_name(backend), training_steps_per_second(name, "cgpo", backend, threads));
  }
}

Json to_json(const BenchRow& row) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  Json result;
  result["name"] = row.name;
  result["backend"] = row.backend;
  result["threads"] = row.threads;
  result["ns_per_substep"] = number(row.ns_per_substep);
  result["ns_per_substep_gradient"] = number(row.ns_per_substep_gradient);
  result["steps_per_second"] = number(row.steps_per_second);
  result["bound"] = number(row.bound);
  result["bound_gradient"] = number(row.bound_gradient);
  result["peer"] = row.peer.empty() ? Json(nullptr) : Json(row.peer);
  result["peer_ns_per_substep"] = number(row.peer_ns);
  result["peer_ns_per_substep_gradient"] = number(row.peer_ns_gradient);
  result["ratio"] = number(row.ratio());
  result["ratio_gradient"] = number(row.ratio_gradient());
  return result;
}

void print(const std::vector<BenchRow>& rows) {
  const auto number = [](std::optional<double> value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : std::string("–");
  };
  const auto percent = [&](std::optional<double> share) {
    return number(share ? std::optional(100.0 * *share) : std::nullopt, "{:.0f} %");
  };
  std::vector<std::vector<std::string>> table = {{"task", "backend", "threads", "ns/substep", "with gradients",
                                                  "of the bound", "steps/s", "mj_step ns", "ratio",
                                                  "mjd_transitionFD ns", "ratio"}};
  for (const BenchRow& row : rows) {
    table.push_back({row.name, row.backend, std::to_string(row.threads), number(row.ns_per_substep, "{:.1f}"),
                     number(row.ns_per_substep_gradient, "{:.1f}"),
                     row.bound ? percent(row.bound) + " / " + percent(row.bound_gradient) : "–",
                     number(row.steps_per_second, "{:.0f}"), number(row.peer_ns, "{:.0f}"),
                     number(row.ratio(), "{:.0f}"), number(row.peer_ns_gradient, "{:.0f}"),
                     number(row.ratio_gradient(), "{:.0f}")});
  }
  say_lines(text_table(table));
  say("\nKernels: one thread, blocks of 32 environments in single precision, per environment and substep; gradients of "
      "the\nreward and one cost. The bound is one multiply–add for each operation, forwards / backwards. MuJoCo: "
      "mj_step, and its\nfinite-difference derivatives, along random motion. -windows: {} episodes of {} steps with "
      "the policy;\n-gradients: the same, and both gradients by the policy's weights. -train: whole iterations of "
      "CGPO, or\nof MB-CGPO where there is no kernel: -episodes of the task itself, -fit of the model to as many "
      "steps.\n",
      kPeerEnvironments, kPeerWindow);
}

int bench(const BenchRequest& request) {
  std::vector<std::string> names = request.tasks;
  if (names.empty()) {
    for (const TaskEntry& entry : task_registry()) names.push_back(entry.name);
  }
  // All of them first: a wrong name costs no waiting.
  for (const std::string& name : request.tasks) {
    const std::shared_ptr<const Task> task = task_named(name);
    if (task == nullptr || (!request.training && !task->spec().differentiable))
      throw UserError("bench times kernels and their derivatives, and task {} has none", name);
  }
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<BenchRow> rows;
  for (const std::string& name : names) {
    say(stderr, "{} …\n", name);
    time_task(name, request, threads, rows);
  }
  if (request.json) {
    Json result;
    result["machine"] = cpu_description();
    result["results"] = Json::array();
    for (const BenchRow& row : rows) result["results"].push_back(to_json(row));
    say_json(result);
  } else {
    say("{}\n\n", cpu_description());
    print(rows);
  }
  return 0;
}

// None of them: all.
void choose_parts(BenchRequest& request) {
  if (request.kernels || request.windows || request.training) return;
  request.kernels = request.windows = request.training = true;
}

}  // namespace

Command make_bench_command() {
  const auto owned = std::make_shared<BenchRequest>();
  BenchRequest& request = *owned;
  return {{{"TASK", Texts{&request.tasks}, "tasks to time (all)"},
           {"--kernels", Switch{&request.kernels}, "only the simulation, beside MuJoCo"},
           {"--windows", Switch{&request.windows}, "only short windows with a policy, and their gradients"},
           {"--training", Switch{&request.training}, "only whole iterations"},
           json_flag(request.json)},
          [owned](const Given&) {
            choose_parts(*owned);
            return bench(*owned);
          }};
}

}  // namespace cgpo
