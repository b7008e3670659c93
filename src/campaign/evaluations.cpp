#include "cgpo/campaign/evaluations.hpp"

#include <cstdint>
#include <fmt/format.h>

#include "cgpo/base/file.hpp"
#include "cgpo/judge/evaluate_policy.hpp"
#include "cgpo/rollout/divergence.hpp"
#include "cgpo/run/run_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// A name for what a file holds (FNV-1a): the same policy is not evaluated twice, another one always is.
std::string fingerprint(const fs::path& path) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : read_file(path)) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

// What is in the file, if it is of this policy.
std::optional<Json> read_kept(const fs::path& path, const std::string& policy) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const Json found = parse_json(read_file(path));
  if (!found.is_object() || !found.contains("report") || found.value("policy", Json()) != Json(policy)) {
    return std::nullopt;
  }
  // Version 0.1.0 called a policy feasible however many of its episodes diverged.
  const Json& report = found["report"];
  if (!report.contains("deployed")) return std::nullopt;  // earlier ones judged the policy with its noise alone
  const int diverged = report.value("diverged", 0);
  if (report.value("feasible", false) && too_many_diverged(diverged, report.value("episodes", 0) + diverged)) {
    return std::nullopt;
  }
  return report;
}

}  // namespace

Json evaluate_run(const ComparedRun& run, const Configuration& configuration, int episodes, int threads) {
  const fs::path path = run.folder / fmt::format("evaluation-{}.json", episodes);
  const std::string policy = fingerprint(RunPaths{run.folder}.checkpoint());
  if (std::optional<Json> kept = read_kept(path, policy)) return *std::move(kept);

  const TrainedPolicy trained = TrainedPolicy::load(run.folder, SavedPolicy::kLast, consent_to_same(configuration));
  const EvaluationReport report = evaluate(trained, {.episodes = episodes, .threads = threads});
  Json file;
  file["policy"] = policy;
  // As it will be read: null for what is not finite.
  file["report"] = Json::parse(to_json(report).dump());
  write_file_atomically(path, file.dump() + "\n");
  return file["report"];
}

}  // namespace cgpo
