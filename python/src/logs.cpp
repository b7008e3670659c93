// The log of a run as columns.
#include <algorithm>
#include <map>
#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/base/numbers.hpp"
#include "cgpo/run/report_fields.hpp"

#include "bindings.hpp"

namespace cgpo::python {
namespace {

using Log = std::vector<LogEntry>;

template <class Number>
nb::object array_of(std::vector<Number> numbers, std::size_t rows, std::size_t columns) {
  auto* const kept = new std::vector<Number>(std::move(numbers));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<Number>*>(pointer); });
  const std::size_t shape[] = {rows, columns};
  return nb::cast(nb::ndarray<nb::numpy, Number>(kept->data(), columns > 0 ? 2 : 1, shape, owner));
}

template <class Number, class Read>
nb::object column(const Log& log, const Read& read) {
  std::vector<Number> numbers;
  for (const LogEntry& entry : log) numbers.push_back(read(entry));
  return array_of(std::move(numbers), log.size(), 0);
}

// Lists of one length are the rows of an array. Where a line has none, or a shorter one, there is no number.
template <class Read>
nb::object table(const Log& log, const Read& read) {
  std::size_t width = 0;
  for (const LogEntry& entry : log) width = std::max(width, read(entry).size());
  if (width == 0) return nb::none();
  std::vector<double> numbers;
  for (const LogEntry& entry : log) {
    const std::vector<double>& row = read(entry);
    for (std::size_t i = 0; i < width; ++i) numbers.push_back(i < row.size() ? row[i] : kNan);
  }
  return array_of(std::move(numbers), log.size(), width);
}

// A column for each kind of field; None: no line has it.
nb::object column_of(const Log& log, int IterationReport::*member) {
  return column<std::int64_t>(log, [&](const LogEntry& entry) { return std::int64_t{entry.report.*member}; });
}
nb::object column_of(const Log& log, std::int64_t IterationReport::*member) {
  return column<std::int64_t>(log, [&](const LogEntry& entry) { return entry.report.*member; });
}
nb::object column_of(const Log& log, double IterationReport::*member) {
  return column<double>(log, [&](const LogEntry& entry) { return entry.report.*member; });
}
nb::object column_of(const Log& log, double LogEntry::*member) {
  return column<double>(log, [&](const LogEntry& entry) { return entry.*member; });
}
nb::object column_of(const Log& log, std::optional<double> IterationReport::*member) {
  const auto has = [&](const LogEntry& entry) { return (entry.report.*member).has_value(); };
  if (std::none_of(log.begin(), log.end(), has)) return nb::none();
  return column<double>(log, [&](const LogEntry& entry) { return (entry.report.*member).value_or(kNan); });
}
nb::object column_of(const Log& log, std::vector<double> IterationReport::*member) {
  return table(log, [&](const LogEntry& entry) -> const std::vector<double>& { return entry.report.*member; });
}
nb::object column_of(const Log& log, std::string IterationReport::*member) {
  const auto has = [&](const LogEntry& entry) { return !(entry.report.*member).empty(); };
  if (std::none_of(log.begin(), log.end(), has)) return nb::none();
  nb::list texts;
  for (const LogEntry& entry : log) texts.append(entry.report.*member);
  return texts;
}
// What is one step deeper becomes columns of its own: add_world, add_named.
nb::object column_of(const Log&, std::optional<WorldReport> IterationReport::*) { return nb::none(); }
nb::object column_of(const Log&, NamedNumbers IterationReport::*) { return nb::none(); }

// Columns FIELD.NAME for every name that a line has; where a line has it not, there is no number.
void add_named(const Log& log, const ReportField& field, nb::dict& columns) {
  const auto* const member = std::get_if<NamedNumbers IterationReport::*>(&field.member);
  if (member == nullptr) return;
  std::map<std::string, std::vector<double>> found;
  for (std::size_t i = 0; i < log.size(); ++i) {
    for (const auto& [name, number] : log[i].report.**member) {
      found.try_emplace(name, log.size(), kNan).first->second[i] = number;
    }
  }
  for (auto& [name, numbers] : found) {
    columns[(field.name + "." + name).c_str()] = array_of(std::move(numbers), log.size(), 0);
  }
}

// Columns world.NAME, if every line has them.
void add_world(const Log& log, nb::dict& columns) {
  std::vector<Json> worlds;
  for (const LogEntry& entry : log) {
    if (entry.report.world) worlds.push_back(to_json(entry).at("world"));
  }
  if (worlds.empty() || worlds.size() < log.size()) return;
  for (const auto& item : worlds.front().items()) {
    const auto number = [](const Json& value) { return value.is_number() ? value.get<double>() : kNan; };
    const std::size_t width = item.value().is_array() ? item.value().size() : 0;
    std::vector<double> numbers;
    for (const Json& world : worlds) {
      const Json& value = world.at(item.key());
      if (!item.value().is_array()) numbers.push_back(number(value));
      for (std::size_t i = 0; i < width; ++i) numbers.push_back(i < value.size() ? number(value[i]) : kNan);
    }
    columns[("world." + item.key()).c_str()] = array_of(std::move(numbers), log.size(), width);
  }
}

nb::dict read_columns(const std::filesystem::path& path, int environments) {
  Log log;
  {
    const nb::gil_scoped_release free;
    log = read_log(path, environments);
  }
  nb::dict columns;
  for (const ReportField& field : report_fields()) {
    nb::object found = std::visit([&](auto member) { return column_of(log, member); }, field.member);
    if (!found.is_none()) columns[field.name.c_str()] = found;
    add_named(log, field, columns);
  }
  add_world(log, columns);
  nb::list feasible;
  for (const LogEntry& entry : log) feasible.append(is_deployable(entry.report));
  columns["feasible"] = feasible;
  return columns;
}

}  // namespace

void bind_logs(nb::module_& module) {
  module.def("read_log", &read_columns, nb::arg("path"), nb::arg("environments"),
             "The columns of a log, those that it has.");
}

}  // namespace cgpo::python
