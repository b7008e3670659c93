// What there is: tasks, algorithms, settings.
#include <nanobind/stl/string.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/json.hpp"

#include "bindings.hpp"

namespace cgpo::python {

void bind_lists(nb::module_& module) {
  module.def(
      "algorithms_json",
      [] {
        Json names = Json::array();
        for (const AlgorithmEntry& entry : algorithm_registry()) names.push_back(entry.name);
        return json_text(names);
      },
      "All algorithms.");
}

}  // namespace cgpo::python
