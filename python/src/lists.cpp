// What there is (tasks, algorithms, settings), and whether a task's derivatives are right.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/config/listing.hpp"
#include "cgpo/studies/derivative_check.hpp"

#include "bindings.hpp"
#include "threads.hpp"
#include "values.hpp"

namespace cgpo::python {
namespace {

std::string settings_json(std::optional<std::string> task, std::optional<std::string> algorithm,
                          std::optional<std::string> preset, const Settings& settings) {
  ConfigurationRequest request;
  request.task = std::move(task);
  request.algorithm = std::move(algorithm);
  request.preset = std::move(preset);
  request.sets = assignments_from(settings);
  const nb::gil_scoped_release free;
  return json_text(list_of_settings(list_settings(request)));
}

std::string check_json(const std::string& task, int states, int window, std::int64_t seed, const Settings& settings) {
  ConfigurationRequest request;
  request.task = task;
  request.sets = assignments_from(settings);
  const LongCall computing;
  const std::shared_ptr<const Task> made = task_of(resolve_configuration(request));
  const DerivativeCheck check = check_derivatives(made, states, window, static_cast<std::uint64_t>(seed));
  return json_text(to_json(check, made->spec().name));
}

}  // namespace

void bind_lists(nb::module_& module) {
  module.attr("derivative_tolerance") = kDerivativeTolerance;
  module.def(
      "tasks_json", [] { return json_text(list_of_tasks()); }, "What `cgpo tasks --json` prints.");
  module.def(
      "algorithms_json", [] { return json_text(list_of_algorithms()); }, "What `cgpo algorithms --json` prints.");
  module.def("settings_json", &settings_json, nb::arg("task").none(), nb::arg("algorithm").none(),
             nb::arg("preset").none(), nb::arg("settings"), "What `cgpo settings --json` prints.");
  module.def("check_json", &check_json, nb::arg("task"), nb::arg("states"), nb::arg("window"), nb::arg("seed"),
             nb::arg("settings"), "What `cgpo check --json` prints.");
}

}  // namespace cgpo::python
