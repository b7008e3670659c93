#include "cgpo/export/export.hpp"

#include <algorithm>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/export/c_header.hpp"
#include "cgpo/export/onnx.hpp"
#include "cgpo/export/torch_module.hpp"
#include "cgpo/judge/evaluate_policy.hpp"

namespace cgpo {
namespace {

struct ExportFormat {
  ExportFormatInfo info;
  std::string (*write)(const DeployedPolicy& policy, const ExportOptions& options);
};

const std::vector<ExportFormat>& formats() {
  static const std::vector<ExportFormat> all = {
      {{"onnx", "an ONNX graph: opset 17, float32, input obs, output action, any batch"},
       [](const DeployedPolicy& policy, const ExportOptions& options) {
         return onnx_model(policy, options.policy_action);
       }},
      {{"c", "a C99 header without memory of its own: void cgpo_policy(const float *obs, float *act)"},
       [](const DeployedPolicy& policy, const ExportOptions& options) { return c_header(policy, options.name); }},
      {{"torch", "a Python file with a torch.nn.Module, its weights in it"},
       [](const DeployedPolicy& policy, const ExportOptions&) { return torch_module(policy); }},
  };
  return all;
}

const ExportFormat& find_format(const std::string& name) {
  std::vector<std::string> known;
  for (const ExportFormat& format : formats()) {
    if (format.info.name == name) return format;
    known.push_back(format.info.name);
  }
  throw UserError("--to must be onnx, c or torch, not '{}'{}", printable(name), did_you_mean(name, known));
}

void check_place(const ExportOptions& options) {
  namespace fs = std::filesystem;
  const std::string name = options.out.string();
  if (name.empty()) throw UserError("export needs a file to write: --out FILE");
  std::error_code ignored;
  if (fs::is_directory(options.out, ignored)) throw UserError("'{}' is a folder; --out takes a file", name);
  const fs::path folder = options.out.has_parent_path() ? options.out.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw UserError("cannot write '{}': there is no folder '{}'", name, folder.string());
  }
  if (is_there(options.out) && !options.force) {
    throw UserError("'{}' is there already; --force replaces it, --out takes another file", name);
  }
}

}  // namespace

const std::vector<ExportFormatInfo>& export_formats() {
  static const std::vector<ExportFormatInfo> all = [] {
    std::vector<ExportFormatInfo> list;
    for (const ExportFormat& format : formats()) list.push_back(format.info);
    return list;
  }();
  return all;
}

ExportResult export_policy(const TrainedPolicy& policy, const ExportOptions& options) {
  const ExportFormat& format = find_format(options.to);
  check_c_name(options.name);
  check_place(options);
  ExportResult result;
  result.out = options.out;
  result.to = options.to;
  if (options.episodes > 0) {
    result.evaluation = std::make_shared<const EvaluationReport>(
        evaluate(policy, {.episodes = options.episodes, .threads = options.threads}));
  }
  const DeployedPolicy deployed = describe_policy(policy, result.evaluation.get());
  const std::string file = format.write(deployed, options);
  write_file_atomically(options.out, file);
  result.bytes = file.size();
  result.metadata = deployed.metadata;
  return result;
}

Json to_json(const ExportResult& result) {
  Json object = {{"out", result.out.string()}, {"to", result.to}, {"bytes", result.bytes}};
  object.update(result.metadata);
  return object;
}

}  // namespace cgpo
