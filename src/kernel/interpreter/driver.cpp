#include "cgpo/kernel/driver.hpp"

#include "cgpo/kernel/interpreter/interpreter.hpp"

namespace cgpo {

BackendDriver interpreter_driver() {
  return {.available = [] { return true; },
          .make_float = [](const Graph& lowered) -> std::unique_ptr<Kernel<float>> {
            return std::make_unique<Interpreter<float>>(lowered);
          },
          .make_double = [](const Graph& lowered) -> std::unique_ptr<Kernel<double>> {
            return std::make_unique<Interpreter<double>>(lowered);
          }};
}

}  // namespace cgpo
