// Environments of Python as tasks of which nothing is known but reset and step; python/cgpo/_black_box.py holds them.
#include <algorithm>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/interruption.hpp"
#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/registry.hpp"

#include "bindings.hpp"

namespace cgpo::python {
namespace {

template <class Value>
nb::object view(Value* data, std::size_t rows, std::size_t columns) {
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<2>>(data, {rows, columns}), nb::rv_policy::reference);
}

// `all` has reset(first, seeds, observations) and step(first, actions, results), which fill the last. Threads take
// turns, since only one at a time runs Python; each environment is one object, so no result depends on them.
class PythonBlackBoxes final : public OutsideEnvironments {
 public:
  PythonBlackBoxes(const TaskSpec& spec, nb::object all) : spec_(spec), all_(std::move(all)) {}
  ~PythonBlackBoxes() override {
    if (!nb::is_alive()) {
      all_.release();  // there is no Python left to free it
      return;
    }
    const nb::gil_scoped_acquire taken;
    all_.reset();
  }
  PythonBlackBoxes(const PythonBlackBoxes&) = delete;
  PythonBlackBoxes& operator=(const PythonBlackBoxes&) = delete;

  void reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) override {
    guarded([&] {
      const std::vector<std::uint64_t> copy(seeds.begin(), seeds.end());
      all_.attr("reset")(first, copy,
                         view(observations.data(), copy.size(), static_cast<std::size_t>(spec_.observations)));
    });
  }

  void step(int first, int count, std::span<const double> actions, std::span<double> results) override {
    guarded([&] {
      const auto rows = static_cast<std::size_t>(count);
      all_.attr("step")(first, view(actions.data(), rows, static_cast<std::size_t>(spec_.actions)),
                        view(results.data(), rows, results.size() / rows));
    });
  }

 private:
  template <class Call>
  void guarded(Call call) const {
    const nb::gil_scoped_acquire taken;
    try {
      call();
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) {  // Ctrl-C is nobody's fault
        if (Interruption* const own = Interruption::current()) own->end_with(std::current_exception());
        throw;
      }
      const std::string sentence = fmt::format("task {}: its simulator failed: {}: {}", spec_.name,
                                               nb::cast<std::string>(error.type().attr("__name__")),
                                               nb::cast<std::string>(nb::str(error.value())));
      keep_cause(sentence, error);
      throw UserError("{}", sentence);
    }
  }

  TaskSpec spec_;
  nb::object all_;
};

// Python's own tasks, by name; one that is named again is another from then on.
void add_black_box(const std::string& name, const std::string& summary, int observations, int actions, int horizon,
                   const std::vector<std::pair<std::string, double>>& costs, nb::object make) {
  static std::vector<std::string> ours;
  TaskSpec spec;
  spec.name = name;
  spec.summary = summary;
  spec.observations = observations;
  spec.actions = actions;
  spec.horizon = horizon;
  if (horizon < 10) spec.defaults = {{"window", std::to_string(horizon)}};  // it may not be longer
  for (const auto& [cost, limit] : costs) spec.costs.push_back({.name = cost, .limit = limit});
  // The registry outlives Python, so it may not let go of an object of it.
  const nb::handle kept = make.release();
  TaskEntry entry{.name = name, .options = {}, .make = [spec, kept](const TaskOptions&) {
                    const nb::gil_scoped_acquire taken;
                    return make_outside_task(spec, std::make_shared<PythonBlackBoxes>(spec, kept()));
                  }};
  std::vector<TaskEntry>& all = task_registry();
  const auto found = std::find_if(all.begin(), all.end(), [&](const TaskEntry& known) { return known.name == name; });
  if (found == all.end()) {
    ours.push_back(name);
    all.push_back(std::move(entry));
    return;
  }
  if (std::find(ours.begin(), ours.end(), name) == ours.end())
    throw UserError("there is a task {} already: the name must be another", name);
  *found = std::move(entry);
}

}  // namespace

void bind_black_boxes(nb::module_& module) {
  module.def("add_black_box", &add_black_box, nb::kw_only(), nb::arg("name"), nb::arg("summary"),
             nb::arg("observations"), nb::arg("actions"), nb::arg("horizon"), nb::arg("costs"), nb::arg("make"),
             "make() gives the environments of one training.");
}

}  // namespace cgpo::python
