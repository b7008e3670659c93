// The module cgpo._core. Users see what python/cgpo makes of it.
#include "cgpo/base/version.hpp"

#include "bindings.hpp"

NB_MODULE(_core, module) {
  // At its end Python leaves objects alive, those that PyTorch knows for example: no fault of a user or of ours.
  nanobind::set_leak_warnings(false);
  module.doc() = "What the package cgpo is made on; use that.";
  module.attr("version") = CGPO_VERSION;
  cgpo::python::translate_errors();
  cgpo::python::bind_black_boxes(module);
  cgpo::python::bind_environments(module);
  cgpo::python::bind_command(module);
  cgpo::python::bind_lists(module);
  cgpo::python::bind_logs(module);
  cgpo::python::bind_policies(module);
  cgpo::python::bind_reports(module);
  cgpo::python::bind_tracing(module);
  cgpo::python::bind_steps(module);
  cgpo::python::bind_training(module);
}
