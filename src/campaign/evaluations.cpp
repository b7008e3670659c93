#include "cgpo/campaign/evaluations.hpp"

#include <fmt/format.h>

#include "cgpo/base/file.hpp"
#include "cgpo/judge/evaluate_policy.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// What is in the file, if it belongs to this log; `seconds` tells a training from its repetition.
std::optional<Json> read_kept(const fs::path& path, const std::vector<LogEntry>& log) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const Json found = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!found.is_object() || !found.contains("report") || found.value("iterations", Json()) != Json(log.size()) ||
      found.value("seconds", Json()) != Json(log.back().seconds)) {
    return std::nullopt;
  }
  return found["report"];
}

}  // namespace

Json evaluate_run(const ComparedRun& run, int episodes, int threads) {
  const fs::path path = run.folder / fmt::format("evaluation-{}.json", episodes);
  if (std::optional<Json> kept = read_kept(path, run.log)) return *std::move(kept);

  const EvaluationReport report = evaluate(TrainedPolicy::load(run.folder), {.episodes = episodes, .threads = threads});
  Json file;
  file["iterations"] = run.log.size();
  file["seconds"] = run.log.back().seconds;
  // As it will be read: null for what is not finite.
  file["report"] = Json::parse(to_json(report).dump());
  write_file_atomically(path, file.dump() + "\n");
  return file["report"];
}

}  // namespace cgpo
