// A trained policy as a file for other programs: from raw observation to physical control, and what must be known to
// use it. docs/guide/export.md is its page.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/judge/evaluation_report.hpp"
#include "cgpo/run/trained_policy.hpp"

namespace cgpo {

struct ExportOptions {
  std::string to;  // one of export_formats()
  std::filesystem::path out;
  bool force = false;                // replace a file that is there
  int episodes = 1024;               // of the evaluation whose verdict goes into the file; 0: none, no verdict
  bool policy_action = false;        // of ONNX: a second output, the policy's own action; the other formats have it
  std::string name = "cgpo_policy";  // of C: what its names begin with
  int threads = 1;                   // of the evaluation; the file does not depend on it
};

struct ExportResult {
  std::filesystem::path out;
  std::string to;
  std::size_t bytes = 0;
  std::shared_ptr<const EvaluationReport> evaluation;  // null: there was none
  Json metadata;                                       // all that the file says beside the numbers of the network
};

// What `to` may be, and what each is.
struct ExportFormatInfo {
  std::string name;
  std::string summary;
};
const std::vector<ExportFormatInfo>& export_formats();

// Writes the deployed policy, which takes its mean action. The file is whole or not there. Throws UserError, before
// anything is evaluated, for a format or name that cannot be and a file that is there or cannot be.
ExportResult export_policy(const TrainedPolicy& policy, const ExportOptions& options);

// One object: where, in what format and how large, then all that the file says.
Json to_json(const ExportResult& result);

}  // namespace cgpo
