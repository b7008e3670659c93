#include "cgpo/config/history.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace cgpo {
namespace {

constexpr std::string_view kByConfidence =
    "was replaced by radius.confidence, the probability with which an update keeps the limits";

constexpr RetiredKey kRetiredKeys[] = {
    {"radius.margin_se", kByConfidence}, {"radius.margin_miss", kByConfidence}, {"radius.chance_se", kByConfidence}};

// Values that switch off what came with a key. A file that this version wrote has all keys.
struct LaterKey {
  std::string_view name;
  std::string_view off;
};
constexpr LaterKey kLaterKeys[] = {
    {"batch.adaptive", "false"}, {"batch.deployed", "0.0"},    {"policy.settle", "1.0"},       {"critic.passes", "1e6"},
    {"critic.memory", "0"},      {"radius.confidence", "0.0"}, {"gradient.correction", "none"}};

}  // namespace

const RetiredKey* find_retired_key(std::string_view name) {
  const auto* found = std::find_if(std::begin(kRetiredKeys), std::end(kRetiredKeys),
                                   [&](const RetiredKey& key) { return key.name == name; });
  return found != std::end(kRetiredKeys) ? found : nullptr;
}

std::vector<Assignment> brought_up_to_date(std::vector<Assignment> file) {
  std::erase_if(file, [](const Assignment& assignment) { return find_retired_key(assignment.key) != nullptr; });
  for (const LaterKey& later : kLaterKeys) {
    if (std::none_of(file.begin(), file.end(), [&](const Assignment& given) { return given.key == later.name; })) {
      file.push_back(make_assignment(std::string(later.name), std::string(later.off), "a run of an older version"));
    }
  }
  return file;
}

}  // namespace cgpo
