#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/reproduce/reproduce.hpp"

namespace cgpo {

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> all = {
      table1_reproduction(),  errors_reproduction(),      fobg_reproduction(),      radius_reproduction(),
      horizon_reproduction(), world_model_reproduction(), gradients_reproduction(), sensitivity_reproduction(),
  };
  return all;
}

std::vector<const Reproduction*> find_reproductions(const std::string& name) {
  std::vector<const Reproduction*> chosen;
  std::vector<std::string> names;
  for (const Reproduction& reproduction : reproductions()) {
    if (name == "all" || name == reproduction.name) chosen.push_back(&reproduction);
    names.push_back(reproduction.name);
  }
  if (!chosen.empty()) return chosen;
  names.emplace_back("all");
  if (name.empty()) throw UserError("reproduce needs a name; there are: {}", fmt::join(names, ", "));
  throw UserError("there is no '{}' to reproduce{}; there are: {}", name, did_you_mean(name, names),
                  fmt::join(names, ", "));
}

}  // namespace cgpo
