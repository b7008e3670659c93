// Environments that Python steps, many at once; python/cgpo/environments.py makes of them what packages expect.
#include "cgpo/rollout/environments.hpp"

#include <mutex>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "resolved_task.hpp"
#include "threads.hpp"

namespace cgpo::python {
namespace {

template <class Value, int rank>
using Given = nb::ndarray<const Value, nb::ndim<rank>, nb::c_contig, nb::device::cpu>;

Autoreset autoreset_from(const std::string& mode) {
  if (mode == "NextStep") return Autoreset::kNextStep;
  if (mode == "SameStep") return Autoreset::kSameStep;
  if (mode == "Disabled") return Autoreset::kDisabled;
  throw UserError("autoreset_mode must be NextStep, SameStep or Disabled, not '{}'", mode);
}

class PythonEnvironments {
 public:
  PythonEnvironments(const std::string& task, const Settings& settings, int count, std::optional<int> horizon,
                     const std::string& autoreset, int threads)
      : configuration_(resolve_task(task, settings)),
        horizon_(horizon.value_or(configuration_.settings.horizon)),
        environments_(configuration_.made, chosen_costs(configuration_), count, horizon_, autoreset_from(autoreset),
                      threads_or_all(threads)),
        count_(static_cast<std::size_t>(count)),
        observations_(static_cast<std::size_t>(spec().observations)) {}

  const TaskSpec& spec() const { return configuration_.made->spec(); }
  const std::vector<std::string>& costs() const { return configuration_.settings.costs; }
  const std::vector<double>& limits() const { return configuration_.settings.limits; }
  int horizon() const { return horizon_; }

  nb::object reset(const std::optional<std::vector<std::optional<std::uint64_t>>>& seeds,
                   const std::optional<Given<bool, 1>>& which) {
    if (seeds && seeds->size() != count_) throw UserError("there must be {} seeds, not {}", count_, seeds->size());
    if (which && which->size() != count_)
      throw UserError("reset_mask must have {} entries, not {}", count_, which->size());
    NewArray<float> observations(count_ * observations_);
    {
      const OneAtATime alone(mutex_);
      for (std::size_t i = 0; seeds && i < count_; ++i) {
        if ((*seeds)[i] && (!which || which->data()[i])) environments_.seed(static_cast<int>(i), *(*seeds)[i]);
      }
      environments_.reset(which ? which->data() : nullptr, observations.data());
    }
    return nb::cast(observations.hand_over(std::array{count_, observations_}));
  }

  nb::tuple step(const Given<float, 2>& actions, bool keep_final) {
    check_rows("actions", actions, spec().actions);
    const std::size_t costs = environments_.costs().size();
    NewArray<float> observations(count_ * observations_);
    NewArray<float> final_observations(keep_final ? count_ * observations_ : 0);
    NewArray<double> rewards(count_);
    NewArray<double> spent(costs * count_);
    NewArray<bool> terminated(count_), truncated(count_), diverged(count_), stepped(count_);
    {
      const OneAtATime alone(mutex_);
      environments_.step(actions.data(), {.observations = observations.data(),
                                          .final_observations = final_observations.data(),
                                          .rewards = rewards.data(),
                                          .costs = spent.data(),
                                          .terminated = terminated.data(),
                                          .truncated = truncated.data(),
                                          .diverged = diverged.data(),
                                          .stepped = stepped.data()});
    }
    const std::array each{count_};
    return nb::make_tuple(observations.hand_over(std::array{count_, observations_}), rewards.hand_over(each),
                          spent.hand_over(std::array{costs, count_}), terminated.hand_over(each),
                          truncated.hand_over(each), diverged.hand_over(each), stepped.hand_over(each),
                          final_observations.hand_over(std::array{keep_final ? count_ : 0, observations_}));
  }

  nb::object states() const {
    const auto size = static_cast<std::size_t>(spec().states);
    NewArray<float> states(count_ * size);
    {
      const OneAtATime alone(mutex_);
      environments_.read_states(states.data());
    }
    return nb::cast(states.hand_over(std::array{count_, size}));
  }

  nb::object set_states(const Given<float, 2>& states) {
    check_rows("states", states, spec().states);
    NewArray<float> observations(count_ * observations_);
    {
      const OneAtATime alone(mutex_);
      environments_.write_states(states.data(), observations.data());
    }
    return nb::cast(observations.hand_over(std::array{count_, observations_}));
  }

 private:
  void check_rows(const char* what, const Given<float, 2>& rows, int size) const {
    if (rows.shape(0) != count_ || rows.shape(1) != static_cast<std::size_t>(size)) {
      throw UserError("{} must have the shape ({}, {}), not ({}, {})", what, count_, size, rows.shape(0),
                      rows.shape(1));
    }
  }

  // Threads of Python may share environments, and take turns. Who waits has no GIL, which a black box's step needs.
  struct OneAtATime {
    explicit OneAtATime(std::mutex& mutex) : lock(mutex) {}
    nb::gil_scoped_release free;
    std::lock_guard<std::mutex> lock;
  };

  Configuration configuration_;
  int horizon_;
  Environments environments_;
  std::size_t count_;
  std::size_t observations_;
  mutable std::mutex mutex_;
};

}  // namespace

void bind_environments(nb::module_& module) {
  using Bound = PythonEnvironments;
  nb::class_<Bound>(module, "Environments", "Environments of a task, stepped together.")
      .def(nb::init<const std::string&, const Settings&, int, std::optional<int>, const std::string&, int>(),
           nb::kw_only(), nb::arg("task"), nb::arg("settings"), nb::arg("count"), nb::arg("horizon").none(),
           nb::arg("autoreset"), nb::arg("threads"))
      .def_prop_ro("task", [](const Bound& own) { return own.spec().name; })
      .def_prop_ro("states_size", [](const Bound& own) { return own.spec().states; })
      .def_prop_ro("observations", [](const Bound& own) { return own.spec().observations; })
      .def_prop_ro("actions", [](const Bound& own) { return own.spec().actions; })
      .def_prop_ro("horizon", &Bound::horizon)
      .def_prop_ro("seconds", [](const Bound& own) { return own.spec().dt * own.spec().substeps; })
      .def_prop_ro("costs", [](const Bound& own) { return own.costs(); })
      .def_prop_ro("limits", [](const Bound& own) { return own.limits(); })
      .def("reset", &Bound::reset, nb::arg("seeds").none(), nb::arg("which").none())
      .def("step", &Bound::step, nb::arg("actions"), nb::arg("keep_final"))
      .def("states", &Bound::states)
      .def("set_states", &Bound::set_states, nb::arg("states"));
}

}  // namespace cgpo::python
