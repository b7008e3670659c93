#include "cgpo/config/defaults.hpp"

#include <algorithm>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/config/keys.hpp"

namespace cgpo {
namespace {

constexpr std::string_view kSet = "set.";

std::vector<std::string> names_in(const Assignment& assignment) {
  std::vector<std::string> names;
  if (const auto* list = std::get_if<std::vector<Value>>(&assignment.value.data)) {
    for (const Value& item : *list) {
      if (const auto* name = std::get_if<std::string>(&item.data)) names.push_back(*name);
    }
    if (!names.empty() && names.size() == list->size()) return names;
  }
  throw UserError("{}: {} must be a list of names", assignment.origin, assignment.key);
}

// The keys below `set`, in the order of settings_keys(), each tried on settings that nobody needs.
std::vector<Assignment> checked_settings(const std::vector<Assignment>& assignments) {
  std::vector<Assignment> settings;
  for (const Assignment& assignment : assignments) {
    if (!assignment.key.starts_with(kSet)) continue;
    const std::string name = assignment.key.substr(kSet.size());
    if (find_key(name) == nullptr) throw UserError("{}: unknown key '{}'", assignment.origin, name);
  }
  Settings scratch;
  for (const Key& key : settings_keys()) {
    for (const Assignment& assignment : assignments) {
      if (assignment.key != std::string(kSet).append(key.name)) continue;
      try {
        key.set(scratch, assignment.value);
      } catch (const UserError& error) {
        throw UserError("{}: {}", assignment.origin, error.what());
      }
      settings.push_back({std::string(key.name), assignment.value, assignment.origin});
    }
  }
  return settings;
}

DefaultsBlock make_block(const std::vector<Assignment>& assignments, const std::string& name) {
  DefaultsBlock block;
  for (const Assignment& assignment : assignments) {
    if (assignment.key == "tasks") {
      block.tasks = names_in(assignment);
    } else if (assignment.key == "presets") {
      block.presets = names_in(assignment);
    } else if (assignment.key == "algorithms") {
      block.algorithms = names_in(assignment);
    } else if (const auto* text = std::get_if<std::string>(&assignment.value.data);
               assignment.key == "why" && text != nullptr) {
      block.why = *text;
    } else if (!assignment.key.starts_with(kSet)) {
      throw UserError("{}: a block has tasks, presets, algorithms, why and set, not {}", assignment.origin,
                      assignment.key);
    }
  }
  block.set = checked_settings(assignments);
  if (block.set.empty() || block.why.empty()) throw UserError("{}: a block sets nothing, or does not say why", name);
  return block;
}

bool fits(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Assignment> settings_of(const std::vector<const DefaultsBlock*>& blocks) {
  std::vector<Assignment> all;
  for (const DefaultsBlock* block : blocks) all.insert(all.end(), block->set.begin(), block->set.end());
  return all;
}

}  // namespace

std::vector<DefaultsBlock> parse_defaults(std::string_view text, const std::string& name) {
  std::vector<DefaultsBlock> blocks;
  for (const std::vector<Assignment>& assignments : parse_blocks(text, name, "defaults")) {
    blocks.push_back(make_block(assignments, name));
  }
  return blocks;
}

const std::vector<DefaultsBlock>& shipped_defaults() {
  static const std::vector<DefaultsBlock> blocks = parse_defaults(defaults_text(), "defaults.toml");
  return blocks;
}

std::vector<const DefaultsBlock*> blocks_for(const DefaultsFor& run) {
  std::vector<const DefaultsBlock*> found;
  for (const DefaultsBlock& block : shipped_defaults()) {
    if (fits(block.tasks, run.task) && fits(block.presets, run.preset) && fits(block.algorithms, run.algorithm)) {
      found.push_back(&block);
    }
  }
  return found;
}

std::vector<Assignment> own_defaults(const TaskSpec& spec, const std::string& origin) {
  std::vector<Assignment> assignments;
  for (const auto& [key, text] : spec.defaults) assignments.push_back(make_assignment(key, text, origin));
  return assignments;
}

std::vector<Assignment> defaults_of_task(const TaskSpec& spec) {
  std::vector<Assignment> all = own_defaults(spec, "defaults of task " + spec.name);
  const std::vector<Assignment> shipped = settings_of(blocks_for({.task = spec.name, .preset = "", .algorithm = ""}));
  all.insert(all.end(), shipped.begin(), shipped.end());
  return all;
}

std::vector<Assignment> defaults_of_algorithm(const std::string& name) {
  return settings_of(blocks_for({.task = "", .preset = "", .algorithm = name}));
}

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = {"best", "paper"};
  return names;
}

void check_preset(const std::string& name) {
  const std::vector<std::string>& names = preset_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw UserError("unknown preset '{}'{}; there are: best, paper", name, did_you_mean(name, names));
}

}  // namespace cgpo
