#include "cgpo/run/run_log.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "cgpo/base/file.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/run/report_fields.hpp"

namespace cgpo {
namespace {

// How each kind of field is written, and read again.
void write(const std::string& name, double value, bool, Json& line) { line[name] = value; }
void write(const std::string& name, int value, bool, Json& line) { line[name] = value; }
void write(const std::string& name, std::int64_t value, bool, Json& line) { line[name] = value; }
void write(const std::string& name, const std::string& text, bool always, Json& line) {
  if (always || !text.empty()) line[name] = text;
}
void write(const std::string& name, const std::vector<double>& values, bool always, Json& line) {
  if (always || !values.empty()) line[name] = values;
}
void write(const std::string& name, const std::optional<double>& value, bool, Json& line) {
  if (value) line[name] = *value;
}
void write(const std::string& name, const NamedNumbers& numbers, bool, Json& line) {
  for (const auto& [key, value] : numbers) line[name][key] = value;
}

// Anything but what write() makes of such a field throws.
double read_number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}
template <class Integer>
Integer read_integer(const Json& value) {
  if (!value.is_number_integer()) throw Json::type_error::create(302, "a whole number is expected", &value);
  const auto wide = value.get<std::int64_t>();
  if (!std::in_range<Integer>(wide)) throw Json::out_of_range::create(406, "a number is out of range", &value);
  return static_cast<Integer>(wide);
}
void read(const Json& line, const std::string& name, double& value) { value = read_number(line.at(name)); }
void read(const Json& line, const std::string& name, int& value) { value = read_integer<int>(line.at(name)); }
void read(const Json& line, const std::string& name, std::int64_t& value) {
  value = read_integer<std::int64_t>(line.at(name));
}
void read(const Json& line, const std::string& name, std::string& text) { text = line.value(name, ""); }
void read(const Json& line, const std::string& name, std::vector<double>& values) {
  values.clear();
  if (const auto found = line.find(name); found != line.end()) {
    for (const Json& value : found->get_ref<const Json::array_t&>()) values.push_back(read_number(value));
  }
}
void read(const Json& line, const std::string& name, std::optional<double>& value) {
  if (const auto found = line.find(name); found != line.end()) value = read_number(*found);
}
void read(const Json& line, const std::string& name, NamedNumbers& numbers) {
  numbers.clear();
  if (const auto found = line.find(name); found != line.end()) {
    for (const auto& [key, value] : found->get_ref<const Json::object_t&>())
      numbers.emplace_back(key, read_number(value));
  }
}

// Of a learned model's report all fields are there.
using W = WorldReport;
struct WorldField {
  const char* name;
  std::variant<int W::*, std::int64_t W::*, double W::*, std::vector<double> W::*> member;
};
const WorldField kWorldFields[] = {
    {"state_error", &W::state_error},         {"signal_errors", &W::signal_errors},
    {"window_error", &W::window_error},       {"spread", &W::spread},
    {"training_loss", &W::training_loss},     {"minibatches", &W::minibatches},
    {"transitions", &W::transitions},         {"model_share", &W::model_share},
    {"return_windows", &W::return_windows},   {"costs_windows", &W::costs_windows},
    {"return_episodes", &W::return_episodes}, {"costs_episodes", &W::costs_episodes},
};

void write(const std::string& name, const std::optional<WorldReport>& world, bool, Json& line) {
  if (!world) return;
  for (const WorldField& field : kWorldFields) {
    std::visit([&](auto member) { write(field.name, (*world).*member, /*always=*/true, line[name]); }, field.member);
  }
}
void read(const Json& line, const std::string& name, std::optional<WorldReport>& world) {
  const auto found = line.find(name);
  if (found == line.end()) return;
  world.emplace();
  for (const WorldField& field : kWorldFields) {
    std::visit([&](auto member) { read(*found, field.name, (*world).*member); }, field.member);
  }
}

double milliseconds(double seconds) { return std::round(seconds * 1e3) * 1e-3; }

void write_field(const ReportField& field, const LogEntry& entry, Json& line) {
  std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), double LogEntry::*>) {
          line[field.name] = milliseconds(entry.*member);
        } else {
          write(field.name, entry.report.*member, field.always, line);
        }
      },
      field.member);
}

void read_field(const ReportField& field, const Json& line, LogEntry& entry) {
  if (field.newer && !line.contains(field.name)) return;
  std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), double LogEntry::*>) {
          read(line, field.name, entry.*member);
        } else {
          read(line, field.name, entry.report.*member);
        }
        if constexpr (std::is_same_v<decltype(member), std::vector<double> IterationReport::*>) {
          for (double& value : entry.report.*member) {
            if (field.null_is_infinite && std::isnan(value)) value = std::numeric_limits<double>::infinity();
          }
        }
      },
      field.member);
}

std::string read_if_there(const std::filesystem::path& path) { return is_there(path) ? read_file(path) : ""; }

// Whose line it is; none, if it does not say so.
std::optional<int> iteration_of(const Json& line) {
  const auto found = line.is_object() ? line.find("iteration") : line.end();
  if (found == line.end() || !found->is_number_integer()) return std::nullopt;
  const auto iteration = found->get<std::int64_t>();
  if (iteration < 0 || iteration > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(iteration);
}

// Up to version 0.1.0 means over no episode, and standard errors over fewer than two, were written as 0. An episode has
// a step at least, so a mean length of 0 is one over none.
void forget_what_nobody_knew(IterationReport& report) {
  const bool none_left = report.diverged > 0 && !(report.episode_length > 0.0);
  if (none_left) {
    report.return_mean = report.return_paper = report.episode_length = kNan;
    std::fill(report.costs.begin(), report.costs.end(), kNan);
  }
  if (none_left || report.episodes - report.diverged == 1) {
    report.return_se = kNan;
    std::fill(report.costs_se.begin(), report.costs_se.end(), kNan);
  }
}

}  // namespace

Json to_json(const LogEntry& entry) {
  Json line;
  for (const ReportField& field : report_fields()) write_field(field, entry, line);
  return line;
}

LogEntry from_json(const Json& line, int environments) {
  LogEntry entry;
  for (const ReportField& field : report_fields()) read_field(field, line, entry);
  if (entry.report.episodes == 0) entry.report.episodes = environments;  // versions up to 0.1.0 did not write it
  forget_what_nobody_knew(entry.report);
  return entry;
}

Json to_json(const TimingEntry& entry) {
  Json line;
  line["iteration"] = entry.iteration;
  line["seconds"] = entry.seconds;
  line["seconds_writing"] = entry.seconds_writing;
  line["steps_per_second"] = std::round(entry.steps_per_second);
  write("seconds_outside", entry.seconds_outside, /*always=*/false, line);
  write("stage", entry.stage, /*always=*/false, line);
  return line;
}

std::optional<LogEntry> parse_log_line(std::string_view line, int environments) {
  try {
    return from_json(parse_json(line), environments);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

KeptLines find_lines(const std::filesystem::path& path, int iterations, LineKind kind) {
  KeptLines kept;
  const std::string text = read_if_there(path);
  int before = -1;       // the last one that was kept
  bool strange = false;  // since then
  for (std::size_t begin = 0, newline = 0; (newline = text.find('\n', begin)) != std::string::npos;
       begin = newline + 1) {
    const std::string_view line = std::string_view(text).substr(begin, newline - begin);
    Json parsed = parse_json(line);
    const std::optional<int> iteration = iteration_of(parsed);
    if (!iteration || (kind == LineKind::kLog && !parse_log_line(line))) {
      strange = true;
      continue;
    }
    if (*iteration >= iterations) continue;
    if (*iteration <= before) {
      strange = true;
      continue;
    }
    kept.damaged = kept.damaged || strange;
    kept.text.append(line).append("\n");
    kept.last = std::move(parsed);
    ++kept.count;
    before = *iteration;
    strange = false;
  }
  kept.damaged = kept.damaged || kept.count < iterations;
  return kept;
}

std::vector<LogEntry> read_log(const std::filesystem::path& path, int environments) {
  std::vector<LogEntry> entries;
  std::istringstream text(read_if_there(path));
  for (std::string line; std::getline(text, line);) {
    std::optional<LogEntry> entry = parse_log_line(line, environments);
    if (!entry) continue;
    if (entries.empty() || entry->report.iteration > entries.back().report.iteration) {
      entries.push_back(*std::move(entry));
    }
  }
  return entries;
}

KeptLines cut_lines(const std::filesystem::path& path, int iterations, LineKind kind) {
  KeptLines kept = find_lines(path, iterations, kind);
  const std::string text = read_if_there(path);
  if (kept.text == text) return kept;
  if (kept.damaged) write_file_atomically(damaged_name(path), text);
  write_file_atomically(path, kept.text);
  return kept;
}

std::filesystem::path damaged_name(const std::filesystem::path& path) {
  std::error_code ignored;
  for (int i = 1;; ++i) {
    std::filesystem::path name = path.string() + ".damaged-" + std::to_string(i);
    if (!std::filesystem::exists(std::filesystem::symlink_status(name, ignored))) return name;
  }
}

}  // namespace cgpo
