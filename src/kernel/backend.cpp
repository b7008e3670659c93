#include "cgpo/kernel/backend.hpp"

#include <algorithm>
#include <array>

#include "cgpo/base/error.hpp"
#include "cgpo/kernel/driver.hpp"

namespace cgpo {
namespace {

constexpr std::array kKnown = {
#define CGPO_BACKEND(id, ...) Backend::id,
#include "cgpo/kernel/backends.def"
};

}  // namespace

std::string_view backend_name(Backend backend) {
#define CGPO_BACKEND(id, name, driver) \
  case Backend::id: return name;

  switch (backend) {
    case Backend::kBest: return "best";
#include "cgpo/kernel/backends.def"
  }
  throw std::logic_error("a backend that is not in the table");
}

const BackendDriver& driver_of(Backend backend) {
  switch (backend) {
    case Backend::kBest: break;
#define CGPO_BACKEND(id, name, driver)              \
  case Backend::id: {                               \
    static const BackendDriver provided = driver(); \
    return provided;                                \
  }
#include "cgpo/kernel/backends.def"
  }
  throw std::logic_error("the best backend is resolved before it is used");
}

std::vector<Backend> known_backends() { return {kKnown.begin(), kKnown.end()}; }

std::vector<Backend> available_backends() {
  std::vector<Backend> available;
  std::copy_if(kKnown.begin(), kKnown.end(), std::back_inserter(available),
               [](Backend backend) { return driver_of(backend).available(); });
  return available;
}

Backend resolve_backend(Backend backend) {
  const std::vector<Backend> available = available_backends();
  if (backend == Backend::kBest) {
    return *std::max_element(available.begin(), available.end(),
                             [](Backend a, Backend b) { return driver_of(a).preference < driver_of(b).preference; });
  }
  if (std::find(available.begin(), available.end(), backend) != available.end()) return backend;
  std::string names;
  for (const Backend name : available) names += fmt::format("{}{}", names.empty() ? "" : ", ", backend_name(name));
  throw UserError("kernel.backend = {} does not run on this machine, which has: best, {}", backend_name(backend),
                  names);
}

}  // namespace cgpo
