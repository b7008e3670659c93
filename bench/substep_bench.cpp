// One physics substep of each robot, forwards and with two adjoints, on every backend: beside the core's multiply–add
// bound, and beside MuJoCo's step and its derivatives by finite differences. One thread, float (MuJoCo: double).
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <fmt/format.h>
#include <mujoco/mujoco.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cgpo/base/cpu.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/graph/lower.hpp"
#include "cgpo/kernel/kernel.hpp"
#include "cgpo/kernel/peak.hpp"
#ifdef CGPO_X86
#include "cgpo/kernel/x86/machine_kernel.hpp"
#endif
#include "cgpo/physics/dynamics/step.hpp"
#include "cgpo/physics/mujoco/handle.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/tasks/robots/models.hpp"

namespace cgpo::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// On a shared machine some runs are disturbed; the middle one is not, if each is short.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Times `call` in short bursts for as long as the benchmark runs; nanoseconds a call.
template <class Prepare, class Call>
double time_calls(benchmark::State& state, Prepare prepare, Call call) {
  prepare();
  call();
  const auto start = Clock::now();
  call();
  const int burst = std::clamp(static_cast<int>(2e-5 / seconds_since(start)), 1, 100);
  std::vector<double> times;
  for (auto _ : state) {
    prepare();
    const auto begin = Clock::now();
    for (int i = 0; i < burst; ++i) call();
    times.push_back(seconds_since(begin) / burst);
    state.SetIterationTime(times.back());
  }
  return 1e9 * median(std::move(times));
}

struct Subject {
  std::string name;
  Model model;
  PhysicsParameters physics;
  Graph forward;
  Graph adjoints;  // the new state too, and two adjoints of state and control
  double prepare_seconds;
};

Subject make_subject(const std::string& name) {
  const auto start = Clock::now();
  Subject subject{.name = name,
                  .model = load_model_from_text(std::string(model_text(name)), name),
                  .physics = {},
                  .forward = Graph(),
                  .adjoints = Graph(),
                  .prepare_seconds = 0.0};
  subject.physics.timestep = 0.01;
  Graph graph;
  PhysicsState<Traced> state{trace_inputs(graph, subject.model.nq), trace_inputs(graph, subject.model.nv)};
  const std::vector<Traced> control = trace_inputs(graph, subject.model.nu);
  state = physics_step(subject.model, subject.physics, state, std::span<const Traced>(control));
  trace_outputs(graph, state.q);
  trace_outputs(graph, state.v);
  std::vector<int> all(graph.outputs().size());
  std::iota(all.begin(), all.end(), 0);
  ReverseRequest request{.seeds = {all, all}, .wrt = std::vector<int>(graph.inputs().size()), .keep_outputs = true};
  std::iota(request.wrt.begin(), request.wrt.end(), 0);
  subject.adjoints = prepare(differentiate(graph, request), Precision::kFloat);
  subject.forward = prepare(graph, Precision::kFloat);
  subject.prepare_seconds = seconds_since(start);
  return subject;
}

// States as a reset draws them; everything else (controls, adjoints) in ±1.
struct Batch {
  Batch(const Subject& subject, const Graph& graph, int lanes)
      : values(graph.inputs().size() * static_cast<std::size_t>(lanes)),
        results(graph.outputs().size() * static_cast<std::size_t>(lanes)) {
    RandomStream random(1, Purpose::kTest);
    for (float& value : values) value = static_cast<float>(random.uniform(-1.0, 1.0));
    const auto task = standard_task(subject.name);
    std::vector<double> state(static_cast<std::size_t>(task->spec().states));
    for (int l = 0; l < lanes; ++l) {
      task->reset(random, state);
      for (int i = 0; i < subject.model.nq + subject.model.nv; ++i) {
        values[static_cast<std::size_t>(i * lanes + l)] = static_cast<float>(state[static_cast<std::size_t>(i)]);
      }
    }
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) inputs.push_back(values.data() + i * lanes);
    for (std::size_t o = 0; o < graph.outputs().size(); ++o) outputs.push_back(results.data() + o * lanes);
  }
  std::vector<float> values, results;
  std::vector<const float*> inputs;
  std::vector<float*> outputs;
};

std::string describe(const Kernel<float>& kernel) {
  std::string text = fmt::format("{} operations, {} kB", kernel.operations(), kernel.code_bytes() / 1024);
#ifdef CGPO_X86
  if (const auto* machine = dynamic_cast<const MachineKernel<float>*>(&kernel)) {
    const CodeStatistics& count = machine->statistics();
    text += fmt::format(", frame {} kB, div+sqrt {}, memory operands {}, reloads {}, spills {}, moves {}",
                        machine->frame_bytes() / 1024, count.divisions, count.memory_operands, count.reloads,
                        count.spills, count.moves);
  }
#endif
  return text;
}

void run_kernel(benchmark::State& state, const Subject& subject, const Graph& graph, Backend backend) {
  const int lanes = static_cast<int>(state.range(0));
  const auto start = Clock::now();
  const auto kernel = compile<float>(graph, backend);
  const double compile_seconds = seconds_since(start);
  Batch batch(subject, graph, lanes);
  KernelScratch scratch;
  const double peak = 1e-9 * multiply_adds_per_second(backend);
  const auto run = [&] {
    kernel->run(batch.inputs.data(), batch.outputs.data(), lanes, scratch);
    benchmark::ClobberMemory();
  };
  const double per_lane = time_calls(
                              state, [] {}, run) /
                          lanes;
  state.counters["ns_per_lane"] = per_lane;
  if (peak > 0.0) state.counters["percent_of_bound"] = 100.0 * kernel->operations() / peak / per_lane;
  state.counters["compile_ms"] = 1e3 * compile_seconds;
  state.SetLabel(describe(*kernel));
}

void run_mujoco(benchmark::State& state, const Subject& subject, bool derivatives) {
  const MujocoModel model = compile_text(std::string(model_text(subject.name)), subject.name);
  model->opt.timestep = subject.physics.timestep;
  const MujocoData data(mj_makeData(model.get()));
  const auto task = standard_task(subject.name);
  std::vector<double> start(static_cast<std::size_t>(task->spec().states));
  RandomStream random(1, Purpose::kTest);
  const auto order = static_cast<std::size_t>(2 * model->nv);
  std::vector<double> a(order * order);
  std::vector<double> b(order * static_cast<std::size_t>(model->nu));
  const auto reset = [&] {
    task->reset(random, start);
    std::copy_n(start.begin(), model->nq, data->qpos);
    std::copy_n(start.begin() + model->nq, model->nv, data->qvel);
    for (int i = 0; i < model->nu; ++i) data->ctrl[i] = random.uniform(-1.0, 1.0);
    mj_step(model.get(), data.get());  // contacts as they are in motion, and a warm start
  };
  state.counters["ns_per_lane"] = time_calls(state, reset, [&] {
    if (derivatives) {
      mjd_transitionFD(model.get(), data.get(), 1e-6, 0, a.data(), b.data(), nullptr, nullptr);
    } else {
      mj_step(model.get(), data.get());
    }
  });
}

void add_benchmarks(const Subject& subject) {
  for (const bool derivatives : {false, true}) {
    const std::string what = derivatives ? "/adjoints/" : "/forward/";
    const Graph& graph = derivatives ? subject.adjoints : subject.forward;
    for (const Backend backend : available_backends()) {
      benchmark::RegisterBenchmark(
          (subject.name + what + std::string(backend_name(backend))).c_str(),
          [&subject, &graph, backend](benchmark::State& state) { run_kernel(state, subject, graph, backend); })
          ->Arg(32)
          ->Arg(256)
          ->UseManualTime();
    }
    benchmark::RegisterBenchmark((subject.name + what + "mujoco").c_str(), [&subject,
                                                                            derivatives](benchmark::State& state) {
      run_mujoco(state, subject, derivatives);
    })->UseManualTime();
  }
}

}  // namespace
}  // namespace cgpo::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<cgpo::bench::Subject> subjects;
  for (const char* name : {"cartpole", "reacher", "halfcheetah", "ant", "quadruped", "humanoid"}) {
    subjects.push_back(cgpo::bench::make_subject(name));
    fmt::print("{}: trace, differentiate and lower {:.1f} ms\n", name, 1e3 * subjects.back().prepare_seconds);
  }
  for (const cgpo::bench::Subject& subject : subjects) cgpo::bench::add_benchmarks(subject);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
