// The command line, for the program `cgpo` of the package.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <vector>

#include "cgpo/base/program_name.hpp"
#include "cgpo/cli/command_line.hpp"

#include "bindings.hpp"

namespace cgpo::python {

void bind_command(nb::module_& module) {
  module.def(
      "run_command_line",
      [](const std::vector<std::string>& words, const std::vector<std::string>& again) {
        set_own_program({again.front(), again});
        std::vector<const char*> pointers;
        for (const std::string& word : words) pointers.push_back(word.c_str());
        const nb::gil_scoped_release free;
        return run_command_line(static_cast<int>(pointers.size()), pointers.data());
      },
      nb::arg("words"), nb::arg("again"),
      "Runs the command line; the exit code. The first word is the program's name; `again` starts this program.");
}

}  // namespace cgpo::python
