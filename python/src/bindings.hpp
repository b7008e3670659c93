// What the files of the module share: one bind_THEME for each of them.
//
// The module is thin and never prints: it hands over to the libraries, and what they return as JSON goes to Python as
// text, the same that `--json` prints. What computes for long releases the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <string>

namespace cgpo::python {

namespace nb = nanobind;

void translate_errors();
// A UserError in whose words this sentence is has this exception as its __cause__. With the GIL.
void keep_cause(const std::string& sentence, const nb::python_error& failure);
void bind_black_boxes(nb::module_& module);
void bind_environments(nb::module_& module);
void bind_command(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_logs(nb::module_& module);
void bind_policies(nb::module_& module);
void bind_reports(nb::module_& module);
void bind_tracing(nb::module_& module);
void bind_steps(nb::module_& module);
void bind_training(nb::module_& module);

}  // namespace cgpo::python
