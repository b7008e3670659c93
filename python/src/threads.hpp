// How many threads a call takes, and what it does while it computes.
#pragma once

#include <algorithm>
#include <thread>

#include "cgpo/base/interruption.hpp"

#include "bindings.hpp"

namespace cgpo::python {

// 0: all cores, as on the command line.
inline int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Computes without the GIL. Where Python's main thread does, a signal whose handler raises, such as Ctrl-C, ends it
// soon.
class LongCall {
  static void ask() {
    const nb::gil_scoped_acquire taken;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  nb::gil_scoped_release free_;
  Interruption interruption_{&LongCall::ask};
};

}  // namespace cgpo::python
