#include "values.hpp"

#include <nanobind/stl/string.h>

#include "cgpo/base/error.hpp"

namespace cgpo::python {
namespace {

constexpr const char* kOrigin = "settings";

Value value_from(const std::string& key, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return {nb::cast<bool>(value)};
  if (nb::isinstance<nb::int_>(value)) {
    std::int64_t number = 0;
    if (!nb::try_cast(value, number)) throw UserError("{}: {} is too large a number", kOrigin, key);
    return {number};
  }
  if (nb::isinstance<nb::float_>(value)) return {nb::cast<double>(value)};
  if (nb::isinstance<nb::str>(value)) return {nb::cast<std::string>(value)};
  if (nb::isinstance<nb::list>(value)) {
    std::vector<Value> items;
    for (const nb::handle item : nb::cast<nb::list>(value)) items.push_back(value_from(key, item));
    return {items};
  }
  throw UserError("{}: {} must be a number, a text, True or False, or a list of these, not {}", kOrigin, key,
                  nb::cast<std::string>(nb::str(value.type())));
}

}  // namespace

std::vector<Assignment> assignments_from(const Settings& settings) {
  std::vector<Assignment> assignments;
  for (const auto& [key, value] : settings) assignments.push_back({key, value_from(key, value), kOrigin});
  return assignments;
}

}  // namespace cgpo::python
