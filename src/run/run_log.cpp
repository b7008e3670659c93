#include "cgpo/run/run_log.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <unistd.h>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
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

double read_number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
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
    for (const Json& value : *found) values.push_back(read_number(value));
  }
}
void read(const Json& line, const std::string& name, std::optional<double>& value) {
  if (const auto found = line.find(name); found != line.end()) value = read_number(*found);
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

}  // namespace

Json to_json(const LogEntry& entry) {
  Json line;
  for (const ReportField& field : report_fields()) write_field(field, entry, line);
  return line;
}

LogEntry from_json(const Json& line) {
  LogEntry entry;
  for (const ReportField& field : report_fields()) read_field(field, line, entry);
  return entry;
}

Json to_json(const TimingEntry& entry) {
  Json line;
  line["iteration"] = entry.iteration;
  line["seconds"] = entry.seconds;
  line["seconds_writing"] = entry.seconds_writing;
  line["steps_per_second"] = std::round(entry.steps_per_second);
  return line;
}

LineFile::LineFile(const std::filesystem::path& path) : name_(path.string()), file_(std::fopen(path.c_str(), "abe")) {
  if (!file_) throw UserError("cannot write '{}': {}", name_, std::strerror(errno));
}

void LineFile::append(const Json& line) {
  const std::string text = line.dump() + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0 ||
      ::fdatasync(::fileno(file_.get())) != 0) {
    throw UserError("cannot write '{}': {}", name_, std::strerror(errno));
  }
}

KeptLines find_lines(const std::filesystem::path& path, int iterations) {
  const std::string text = read_file(path);
  KeptLines kept;
  while (kept.count < iterations) {
    const std::size_t newline = text.find('\n', kept.bytes);
    if (newline == std::string::npos) break;  // what follows is nothing, or a line without its end
    Json line = parse_json(std::string_view(text).substr(kept.bytes, newline - kept.bytes));
    if (!line.is_object() || line.value("iteration", Json()) != Json(kept.count)) break;
    kept.last = std::move(line);
    ++kept.count;
    kept.bytes = newline + 1;
  }
  return kept;
}

std::vector<LogEntry> read_log(const std::filesystem::path& path) {
  std::vector<LogEntry> entries;
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return entries;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) {
    try {
      entries.push_back(from_json(parse_json(line)));
    } catch (const Json::exception&) {
      break;
    }
  }
  return entries;
}

KeptLines cut_lines(const std::filesystem::path& path, int iterations) {
  KeptLines kept = find_lines(path, iterations);
  const std::string text = read_file(path);
  if (kept.bytes != text.size()) write_file_atomically(path, std::string_view(text).substr(0, kept.bytes));
  return kept;
}

}  // namespace cgpo
