#include "cgpo/run/run_log.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <unistd.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"

namespace cgpo {
namespace {

double read_number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> read_numbers(const Json& line, const char* name) {
  std::vector<double> values;
  if (const auto found = line.find(name); found != line.end()) {
    for (const Json& value : *found) values.push_back(read_number(value));
  }
  return values;
}

std::optional<double> read_optional(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found == line.end() ? std::nullopt : std::optional(read_number(*found));
}

Json to_json(const WorldReport& world) {
  Json result;
  result["state_error"] = world.state_error;
  result["signal_errors"] = world.signal_errors;
  result["window_error"] = world.window_error;
  result["spread"] = world.spread;
  result["training_loss"] = world.training_loss;
  result["minibatches"] = world.minibatches;
  result["transitions"] = world.transitions;
  result["model_share"] = world.model_share;
  result["return_windows"] = world.return_windows;
  result["costs_windows"] = world.costs_windows;
  result["return_episodes"] = world.return_episodes;
  result["costs_episodes"] = world.costs_episodes;
  return result;
}

WorldReport world_from_json(const Json& line) {
  WorldReport world;
  world.state_error = read_number(line.at("state_error"));
  world.signal_errors = read_numbers(line, "signal_errors");
  world.window_error = read_number(line.at("window_error"));
  world.spread = read_number(line.at("spread"));
  world.training_loss = read_number(line.at("training_loss"));
  world.minibatches = line.at("minibatches").get<int>();
  world.transitions = line.at("transitions").get<std::int64_t>();
  world.model_share = read_number(line.at("model_share"));
  world.return_windows = read_number(line.at("return_windows"));
  world.costs_windows = read_numbers(line, "costs_windows");
  world.return_episodes = read_number(line.at("return_episodes"));
  world.costs_episodes = read_numbers(line, "costs_episodes");
  return world;
}

double milliseconds(double seconds) { return std::round(seconds * 1e3) * 1e-3; }

}  // namespace

Json to_json(const LogEntry& entry) {
  const IterationReport& report = entry.report;
  Json line;
  line["iteration"] = report.iteration;
  line["steps"] = report.steps;
  line["seconds"] = milliseconds(entry.seconds);
  line["return"] = report.return_mean;
  line["return_se"] = report.return_se;
  line["return_paper"] = report.return_paper;
  line["costs"] = report.costs;
  line["costs_se"] = report.costs_se;
  line["limits"] = report.limits;
  if (!report.costs_low.empty()) line["costs_low"] = report.costs_low;
  if (!report.costs_high.empty()) line["costs_high"] = report.costs_high;
  if (!report.violation_rates.empty()) line["violation_rates"] = report.violation_rates;
  line["episode_length"] = report.episode_length;
  if (report.contact_share) line["contact_share"] = *report.contact_share;
  line["diverged"] = report.diverged;
  if (!report.update_case.empty()) line["case"] = report.update_case;
  if (report.radius) line["radius"] = *report.radius;
  if (report.rho) line["rho"] = *report.rho;
  if (report.zeta) line["zeta"] = *report.zeta;
  if (!report.change_predicted.empty()) line["change_predicted"] = report.change_predicted;
  if (!report.change_realised.empty()) line["change_realised"] = report.change_realised;
  if (!report.change_se.empty()) line["change_se"] = report.change_se;
  if (report.kl) line["kl"] = *report.kl;
  if (report.lambda) line["lambda"] = *report.lambda;
  if (!report.nu.empty()) line["nu"] = report.nu;
  if (!report.gradient_norms.empty()) line["gradient_norms"] = report.gradient_norms;
  if (!report.gradient_errors.empty()) line["gradient_errors"] = report.gradient_errors;
  if (!report.gradient_signals.empty()) line["gradient_signals"] = report.gradient_signals;
  if (!report.critic_losses.empty()) line["critic_losses"] = report.critic_losses;
  if (!report.critic_explained.empty()) line["critic_explained"] = report.critic_explained;
  if (!report.critic_cosines.empty()) line["critic_cosines"] = report.critic_cosines;
  if (report.world) line["world"] = to_json(*report.world);
  if (!report.warning.empty()) line["warning"] = report.warning;
  return line;
}

LogEntry from_json(const Json& line) {
  LogEntry entry;
  entry.seconds = read_number(line.at("seconds"));
  IterationReport& report = entry.report;
  report.iteration = line.at("iteration").get<int>();
  report.steps = line.at("steps").get<std::int64_t>();
  report.return_mean = read_number(line.at("return"));
  report.return_se = read_number(line.at("return_se"));
  report.return_paper = read_number(line.at("return_paper"));
  report.costs = read_numbers(line, "costs");
  report.costs_se = read_numbers(line, "costs_se");
  report.limits = read_numbers(line, "limits");
  for (double& limit : report.limits) {
    if (std::isnan(limit)) limit = std::numeric_limits<double>::infinity();  // the only limit that is written as null
  }
  report.costs_low = read_numbers(line, "costs_low");
  report.costs_high = read_numbers(line, "costs_high");
  report.violation_rates = read_numbers(line, "violation_rates");
  report.episode_length = read_number(line.at("episode_length"));
  report.contact_share = read_optional(line, "contact_share");
  report.diverged = line.at("diverged").get<int>();
  report.update_case = line.value("case", "");
  report.radius = read_optional(line, "radius");
  report.rho = read_optional(line, "rho");
  report.zeta = read_optional(line, "zeta");
  report.change_predicted = read_numbers(line, "change_predicted");
  report.change_realised = read_numbers(line, "change_realised");
  report.change_se = read_numbers(line, "change_se");
  report.kl = read_optional(line, "kl");
  report.lambda = read_optional(line, "lambda");
  report.nu = read_numbers(line, "nu");
  report.gradient_norms = read_numbers(line, "gradient_norms");
  report.gradient_errors = read_numbers(line, "gradient_errors");
  report.gradient_signals = read_numbers(line, "gradient_signals");
  report.critic_losses = read_numbers(line, "critic_losses");
  report.critic_explained = read_numbers(line, "critic_explained");
  report.critic_cosines = read_numbers(line, "critic_cosines");
  if (const auto world = line.find("world"); world != line.end()) report.world = world_from_json(*world);
  report.warning = line.value("warning", "");
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
  const auto at = [&](std::size_t position) { return text.begin() + static_cast<std::ptrdiff_t>(position); };
  KeptLines kept;
  while (kept.count < iterations) {
    const std::size_t newline = text.find('\n', kept.bytes);
    if (newline == std::string::npos) break;  // what follows is nothing, or a line without its end
    Json line = Json::parse(at(kept.bytes), at(newline), nullptr, /*allow_exceptions=*/false);
    if (!line.is_object() || line.value("iteration", -1) != kept.count) break;
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
      entries.push_back(from_json(Json::parse(line)));
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
