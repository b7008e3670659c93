#include "cgpo/kernel/peak.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <thread>

#include "cgpo/base/cpu.hpp"
#include "cgpo/kernel/driver.hpp"

namespace cgpo {

double multiply_adds_per_second(Backend backend) {
  const BackendDriver& driver = driver_of(resolve_backend(backend));
  return driver.multiply_adds_per_second == nullptr ? 0.0 : driver.multiply_adds_per_second();
}

std::string cpu_description() {
  std::string name = "unknown CPU";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  }
  return fmt::format("{}, {} cores, {}", name, std::max(1U, std::thread::hardware_concurrency()), isa_name(best_isa()));
}

}  // namespace cgpo
