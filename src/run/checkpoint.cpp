// What a checkpoint says of itself, and whether it can be believed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "cgpo/base/arithmetic.hpp"
#include "cgpo/base/checksum.hpp"
#include "cgpo/base/cpu.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/physics/mujoco/version.hpp"
#include "cgpo/run/run_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr int kMostIterations = 1'000'000;  // that the settings allow

template <class Number>
std::vector<Number> values_of(const Tensor& tensor) {
  std::vector<Number> values(tensor.bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(Number));
  return values;
}

template <class Number>
bool all_finite(const Tensor& tensor) {
  for (const Number value : values_of<Number>(tensor)) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

bool is_finite(const Tensor& tensor) {
  switch (tensor.type) {
    case Tensor::Type::kF32: return all_finite<float>(tensor);
    case Tensor::Type::kF64: return all_finite<double>(tensor);
    case Tensor::Type::kI64: return true;
  }
  return true;
}

const std::string& text_of(const Tensors& tensors, const std::string& what, const fs::path& path) {
  const auto found = tensors.metadata.find(what);
  if (found == tensors.metadata.end()) {
    throw UserError("'{}' was not written by cgpo: it does not name its {}", path.string(), what);
  }
  return found->second;
}

void expect(const Tensors& tensors, const std::string& what, const std::string& wanted, const fs::path& path) {
  const std::string& found = text_of(tensors, what, path);
  if (found != wanted) throw UserError("'{}' is a checkpoint of {} {}, not {}", path.string(), what, found, wanted);
}

std::string configuration_checksum(const Configuration& configuration) {
  return checksum_text(lasting_configuration(configuration));
}

// Of the names alone: versions under development have one name, and differ in this.
std::string keys_checksum() {
  std::string names;
  for (const Key& key : settings_keys()) names += fmt::format("{}\n", key.name);
  return checksum_text(names);
}

// Another version may have other settings, and so another checksum of the same ones.
void expect_configuration(const Tensors& tensors, const Configuration& configuration, const fs::path& path) {
  const auto found = tensors.metadata.find("configuration");
  const auto keys = tensors.metadata.find("keys");
  if (found == tensors.metadata.end() || text_of(tensors, "program", path) != kVersion) return;
  if (keys == tensors.metadata.end() || keys->second != keys_checksum()) return;
  if (found->second != configuration_checksum(configuration)) {
    throw UserError("'{}' is a checkpoint of a run with other settings than this one's", path.string());
  }
}

// Counts can only be whole numbers from 0, and all whole numbers of a checkpoint are counts.
void check_counts(const Tensors& tensors, const fs::path& path) {
  for (const auto& [name, tensor] : tensors.entries) {
    if (tensor.type != Tensor::Type::kI64) continue;
    for (const std::int64_t value : values_of<std::int64_t>(tensor)) {
      if (value < 0) {
        throw UserError("'{}' is not a usable checkpoint: its '{}' is {}", path.string(), name, value);
      }
    }
  }
}

void check_iteration(const Tensors& tensors, const fs::path& path) {
  const std::string& text = text_of(tensors, "iteration", path);
  int iteration = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), iteration);
  if (error != std::errc() || end != text.data() + text.size() || iteration < 0 || iteration > kMostIterations) {
    throw UserError("'{}' is not a usable checkpoint: it cannot be of iteration '{}'", path.string(), text);
  }
  if (tensors.contains("iteration") && tensors.integer("iteration") != iteration) {  // a snapshot has no such entry
    throw UserError("'{}' is not a usable checkpoint: it is of iteration {} and of {}", path.string(), text,
                    tensors.integer("iteration"));
  }
}

}  // namespace

void describe_checkpoint(Tensors& tensors, const Configuration& configuration, int iteration) {
  tensors.metadata["program"] = kVersion;
  tensors.metadata["instruction_set"] = isa_name(best_isa());
  tensors.metadata["arithmetic"] = arithmetic_fingerprint();
  tensors.metadata["mujoco"] = mujoco_version();
  tensors.metadata["task"] = configuration.task;
  tensors.metadata["algorithm"] = configuration.algorithm;
  tensors.metadata["seed"] = fmt::format("{}", configuration.seed);
  tensors.metadata["configuration"] = configuration_checksum(configuration);
  tensors.metadata["keys"] = keys_checksum();
  tensors.metadata["iteration"] = fmt::format("{}", iteration);
}

Tensors read_checkpoint(const fs::path& path, const Configuration& configuration, bool own) {
  Tensors tensors = read_tensors(path);
  expect(tensors, "task", configuration.task, path);
  if (own) {
    expect(tensors, "algorithm", configuration.algorithm, path);
    expect(tensors, "seed", fmt::format("{}", configuration.seed), path);
    expect_configuration(tensors, configuration, path);
  }
  check_counts(tensors, path);
  check_iteration(tensors, path);
  for (const char* prefix : {"policy.", "normaliser."}) check_finite(tensors, prefix, path);
  return tensors;
}

int iteration_of(const Tensors& checkpoint) { return std::stoi(checkpoint.metadata.at("iteration")); }

std::vector<std::string> doubts_about(const Tensors& checkpoint, const fs::path& path) {
  const auto said = [&](const std::string& what, const std::string& otherwise) {
    const auto found = checkpoint.metadata.find(what);
    return found == checkpoint.metadata.end() ? otherwise : found->second;
  };
  std::vector<std::string> doubts;
  const std::string program = said("program", "an older program");
  if (checkpoint.file_format == 1) {
    doubts.push_back(fmt::format("'{}' was written by {} without checksums: what it holds cannot be verified",
                                 path.string(), program));
  }
  if (program != kVersion) {
    doubts.push_back(fmt::format("'{}' was written by {}, and this is {}: the run goes on, but not bit for bit",
                                 path.string(), program, kVersion));
  }
  if (said("arithmetic", arithmetic_fingerprint()) != arithmetic_fingerprint()) {
    doubts.push_back(fmt::format(
        "'{}' was written where log, exp, sin or cos have other last bits (a CPU with {}, and {} here, or another C "
        "library): the run goes on, but not bit for bit",
        path.string(), said("instruction_set", "other instructions"), isa_name(best_isa())));
  }
  // Of an older program that did not write it enough is said; one under development had 2.2.2 then.
  const std::string mujoco = said("mujoco", program == kVersion ? "2.2.2" : mujoco_version());
  if (mujoco != mujoco_version()) {
    doubts.push_back(fmt::format(
        "'{}' was written with MuJoCo {}, and this is {}, which may read and step a robot otherwise: the run goes on, "
        "but not bit for bit",
        path.string(), mujoco, mujoco_version()));
  }
  return doubts;
}

bool is_of_policy(std::string_view name) { return name.starts_with("policy.") || name.starts_with("normaliser."); }

bool is_policy_finite(const Tensors& state) {
  return std::all_of(state.entries.begin(), state.entries.end(),
                     [](const auto& entry) { return !is_of_policy(entry.first) || is_finite(entry.second); });
}

void check_finite(const Tensors& checkpoint, std::string_view prefix, const fs::path& path) {
  for (const auto& [name, tensor] : checkpoint.entries) {
    if (!name.starts_with(prefix) || is_finite(tensor)) continue;
    throw UserError("'{}' cannot be used: '{}' is not finite, so the training had diverged", path.string(), name);
  }
}

}  // namespace cgpo
