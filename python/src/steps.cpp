// Steps of a batch forwards and backwards, on the caller's memory; python/cgpo/torch.py makes functions of them.
//
// All arrays are ours: rows of quantities, columns of environments, which lie side by side.
#include <mutex>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/base/thread_pool.hpp"
#include "cgpo/tasks/simulators/adjoint_step.hpp"

#include "bindings.hpp"
#include "resolved_task.hpp"
#include "threads.hpp"

namespace cgpo::python {
namespace {

constexpr int kLanes = 32;  // of a block, which is what a thread takes

template <class Value>
using Matrix = nb::ndarray<Value, nb::ndim<2>, nb::device::cpu>;

template <class Real>
class Steps {
 public:
  Steps(const std::string& task, const Settings& settings, int threads)
      : configuration_(resolve_task(task, settings)),
        task_(configuration_.made),
        simulator_(make_simulator<Real>(task_, chosen_costs(configuration_))),
        adjoint_(*task_, simulator_->costs()),
        pool_(threads_or_all(threads)) {}

  const TaskSpec& spec() const { return task_->spec(); }
  const Configuration& configuration() const { return configuration_; }
  int inner_rows() const { return simulator_->inner_rows(); }
  std::vector<bool> stops() const {
    std::vector<bool> stops;
    for (int k = 0; k < simulator_->signals(); ++k) stops.push_back(simulator_->stops_at_end(k));
    return stops;
  }

  // Column i is the start of episode `episode` of seed + i, as environments.hpp has them.
  void start(std::uint64_t seed, std::uint32_t episode, const Matrix<Real>& state) {
    const int count = columns_of(state);
    const Rows<Real> rows = rows_of("state", state, spec().states, count);
    const nb::gil_scoped_release free;
    std::vector<double> start(static_cast<std::size_t>(spec().states));
    for (int lane = 0; lane < count; ++lane) {
      RandomStream random(seed + static_cast<std::uint64_t>(lane), Purpose::kReset, episode);
      task_->reset(random, start);
      for (int i = 0; i < spec().states; ++i) rows.row(i)[lane] = static_cast<Real>(start[static_cast<std::size_t>(i)]);
    }
  }

  void observe(const Matrix<const Real>& state, const Matrix<Real>& observation) {
    const int count = columns_of(state);
    const Rows<const Real> from = rows_of("state", state, spec().states, count);
    const Rows<Real> to = rows_of("observation", observation, spec().observations, count);
    over_blocks(count, [&](const Block& block, SimulatorScratch<Real>& scratch) {
      simulator_->observe(from.from_column(block.begin), to.from_column(block.begin), block.size, scratch);
    });
  }

  void observe_backward(const Matrix<const Real>& state, const Matrix<const Real>& seed, const Matrix<Real>& result) {
    const int count = columns_of(state);
    const Rows<const Real> at = rows_of("state", state, spec().states, count);
    const Rows<const Real> from = rows_of("observation", seed, spec().observations, count);
    const Rows<Real> to = rows_of("state", result, spec().states, count);
    over_blocks(count, [&](const Block& block, SimulatorScratch<Real>& scratch) {
      simulator_->observe_pull_back(at.from_column(block.begin), from.from_column(block.begin),
                                    to.from_column(block.begin), block.size, scratch);
    });
  }

  // `outcome`: what is reported as return_paper, and whether the episode ended, 1 or 0.
  void forward(const Matrix<const Real>& state, const Matrix<const Real>& action, const Matrix<Real>& next_state,
               const Matrix<Real>& observation, const Matrix<Real>& signals, const Matrix<Real>& outcome,
               const Matrix<Real>& inner) {
    const int count = columns_of(state);
    const StepBatch<Real> all{.state = rows_of("state", state, spec().states, count),
                              .action = rows_of("action", action, spec().actions, count),
                              .next_state = rows_of("state", next_state, spec().states, count),
                              .observation = rows_of("observation", observation, spec().observations, count),
                              .signals = rows_of("signals", signals, simulator_->signals(), count),
                              .reward_paper = nullptr,
                              .ended = nullptr,
                              .inner = rows_of("inner", inner, inner_rows(), count)};
    const Rows<Real> rest = rows_of("outcome", outcome, 2, count);
    over_blocks(count, [&](const Block& block, SimulatorScratch<Real>& scratch) {
      const int at = block.begin;
      simulator_->step({.state = all.state.from_column(at),
                        .action = all.action.from_column(at),
                        .next_state = all.next_state.from_column(at),
                        .observation = all.observation.from_column(at),
                        .signals = all.signals.from_column(at),
                        .reward_paper = rest.row(0) + at,
                        .ended = rest.row(1) + at,
                        .inner = inner_rows() > 0 ? all.inner.from_column(at) : Rows<Real>()},
                       block.size, scratch);
    });
  }

  void backward(const Matrix<const Real>& state, const Matrix<const Real>& action, const Matrix<const Real>& next_state,
                const Matrix<const Real>& inner, const Matrix<const Real>& next_state_seed,
                const Matrix<const Real>& observation_seed, const Matrix<const Real>& signal_seed,
                const Matrix<Real>& state_adjoint, const Matrix<Real>& action_adjoint) {
    const int count = columns_of(state);
    const AdjointStepBatch<Real> all{
        .state = rows_of("state", state, spec().states, count),
        .action = rows_of("action", action, spec().actions, count),
        .next_state = rows_of("state", next_state, spec().states, count),
        .inner = rows_of("inner", inner, inner_rows(), count),
        .next_state_adjoint = rows_of("state", next_state_seed, spec().states, count),
        .observation_adjoint = rows_of("observation", observation_seed, spec().observations, count),
        .signal_adjoint = rows_of("signals", signal_seed, simulator_->signals(), count),
        .state_adjoint = rows_of("state", state_adjoint, spec().states, count),
        .action_adjoint = rows_of("action", action_adjoint, spec().actions, count)};
    over_blocks(count, [&](const Block& block, SimulatorScratch<Real>& scratch) {
      const int at = block.begin;
      adjoint_.pull_back({.state = all.state.from_column(at),
                          .action = all.action.from_column(at),
                          .next_state = all.next_state.from_column(at),
                          .inner = all.inner.from_column(at),
                          .next_state_adjoint = all.next_state_adjoint.from_column(at),
                          .observation_adjoint = all.observation_adjoint.from_column(at),
                          .signal_adjoint = all.signal_adjoint.from_column(at),
                          .state_adjoint = all.state_adjoint.from_column(at),
                          .action_adjoint = all.action_adjoint.from_column(at)},
                         block.size, scratch);
    });
  }

 private:
  template <class Value>
  static int columns_of(const Matrix<Value>& matrix) {
    if (matrix.shape(1) > std::size_t{1} << 24)
      throw UserError("at most 16777216 environments, not {}", matrix.shape(1));
    return static_cast<int>(matrix.shape(1));
  }

  template <class Value>
  static Rows<Value> rows_of(const char* what, const Matrix<Value>& matrix, int rows, int columns) {
    if (matrix.shape(0) != static_cast<std::size_t>(rows) || matrix.shape(1) != static_cast<std::size_t>(columns)) {
      throw UserError("{} must be of {} environments with {} numbers each, not of {} with {}", what, columns, rows,
                      matrix.shape(1), matrix.shape(0));
    }
    check(rows == 0 || columns <= 1 || matrix.stride(1) == 1, "environments lie side by side");
    return {matrix.data(), rows > 1 ? matrix.stride(0) : columns};
  }

  // visit(block, scratch) of all blocks, without the GIL; one call at a time, since threads of Python share the pool.
  template <class Visit>
  void over_blocks(int count, Visit visit) {
    const nb::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    const std::vector<Block> blocks = fixed_blocks(count, kLanes);
    if (scratch_.size() < blocks.size()) scratch_.resize(blocks.size());
    pool_.run(static_cast<int>(blocks.size()),
              [&](int b) { visit(blocks[static_cast<std::size_t>(b)], scratch_[static_cast<std::size_t>(b)]); });
  }

  Configuration configuration_;
  std::shared_ptr<const Task> task_;
  std::unique_ptr<Simulator<Real>> simulator_;
  AdjointStep<Real> adjoint_;
  ThreadPool pool_;
  std::mutex mutex_;
  std::vector<SimulatorScratch<Real>> scratch_;
};

template <class Real>
void bind(nb::module_& module, const char* name) {
  using Bound = Steps<Real>;
  nb::class_<Bound>(module, name, "Steps of a batch of environments, forwards and backwards.")
      .def(nb::init<const std::string&, const Settings&, int>(), nb::arg("task"), nb::arg("settings"),
           nb::arg("threads"))
      .def_prop_ro("task", [](const Bound& own) { return own.spec().name; })
      .def_prop_ro("states", [](const Bound& own) { return own.spec().states; })
      .def_prop_ro("observations", [](const Bound& own) { return own.spec().observations; })
      .def_prop_ro("actions", [](const Bound& own) { return own.spec().actions; })
      .def_prop_ro("horizon", [](const Bound& own) { return own.configuration().settings.horizon; })
      .def_prop_ro("bound", [](const Bound& own) { return own.spec().divergence_bound; })
      .def_prop_ro("costs", [](const Bound& own) { return own.configuration().settings.costs; })
      .def_prop_ro("limits", [](const Bound& own) { return own.configuration().settings.limits; })
      .def_prop_ro("stops", &Bound::stops)
      .def_prop_ro("inner_rows", &Bound::inner_rows)
      .def("start", &Bound::start, nb::arg("seed"), nb::arg("episode"), nb::arg("state"))
      .def("observe", &Bound::observe)
      .def("observe_backward", &Bound::observe_backward)
      .def("forward", &Bound::forward)
      .def("backward", &Bound::backward);
}

}  // namespace

void bind_steps(nb::module_& module) {
  bind<float>(module, "FloatSteps");
  bind<double>(module, "DoubleSteps");
}

}  // namespace cgpo::python
