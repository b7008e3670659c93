#include "cgpo/campaign/variants.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

std::string algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmEntry& entry : algorithm_registry()) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// At the separators that stand neither in a list nor in a text of TOML.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts = {""};
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      --depth;
    } else if (c == separator && depth <= 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// KEY=VALUE of an entry; the origin is for messages.
Assignment parse_set(const std::string& text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  return make_assignment(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)), origin);
}

// One --vary: KEY=VALUE for each value.
struct Axis {
  std::string key;
  std::vector<std::string> sets;
};

Axis parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  Axis axis{trimmed(text.substr(0, equals)), {}};
  std::vector<std::string> values;
  if (equals != std::string::npos) values = split(text.substr(equals + 1), ',');
  const auto is_empty = [](const std::string& value) { return value.empty(); };
  if (axis.key.empty() || values.empty() || std::any_of(values.begin(), values.end(), is_empty)) {
    throw UserError("--vary takes KEY=VALUE,VALUE,…, as in --vary window=5,10, not '{}'", text);
  }
  if (axis.key == "costs") throw UserError("--vary cannot vary costs: they are the columns of the table");
  for (const std::string& value : values) {
    const std::string set = fmt::format("{}={}", axis.key, value);
    if (set.find('/') != std::string::npos) {
      throw UserError("--vary names folders by its values, which must be without '/', not '{}'", value);
    }
    if (std::find(axis.sets.begin(), axis.sets.end(), set) != axis.sets.end()) {
      throw UserError("--vary {} names {} twice", axis.key, value);
    }
    axis.sets.push_back(set);
  }
  return axis;
}

// varied: one KEY=VALUE of --vary, or empty.
Variant resolve_variant(const std::string& entry, const std::string& varied, const CompareRequest& request) {
  const std::vector<std::string> parts = split(entry, ':');
  const std::string& name = parts.front();
  const std::size_t at = name.find('@');
  const bool own_sets = std::all_of(parts.begin() + 1, parts.end(),
                                    [](const std::string& part) { return part.find('=') != std::string::npos; });
  if (name.empty() || at == 0 || at + 1 == name.size() || !own_sets || entry.find('/') != std::string::npos) {
    throw UserError("--algos takes NAME, NAME@PRESET or NAME:KEY=VALUE, with commas between, not '{}'; there are: {}",
                    request.algorithms, algorithm_names());
  }
  ConfigurationRequest configuration;
  configuration.task = request.task;
  configuration.algorithm = name.substr(0, at);
  configuration.preset = at == std::string::npos ? request.preset : std::optional(name.substr(at + 1));
  Variant variant{varied.empty() ? entry : entry + ":" + varied, {}, {}};
  const auto add_set = [&](const std::string& text, Assignment assignment) {
    variant.sets.push_back(text);
    configuration.sets.push_back(std::move(assignment));
  };
  for (const std::string& text : request.sets) add_set(text, parse_assignment(text));
  for (std::size_t i = 1; i < parts.size(); ++i) add_set(parts[i], parse_set(parts[i], "--algos"));
  if (!varied.empty()) add_set(varied, parse_set(varied, "--vary"));
  Configuration resolved = resolve_configuration(configuration);
  const auto own = request.seeds_of.find(variant.label);
  const int seeds = own == request.seeds_of.end() ? request.seeds : own->second;
  for (int i = 0; i < seeds; ++i) {
    resolved.seed = request.first_seed + static_cast<std::uint64_t>(i);
    variant.configurations.push_back(resolved);
  }
  return variant;
}

// Nothing: it is new.
const Variant* find_same(const std::vector<Variant>& variants, const Variant& wanted) {
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const Variant& other) {
    return differences(other.configurations.front(), wanted.configurations.front()).empty();
  });
  return found == variants.end() ? nullptr : &*found;
}

// Refuses tasks and limits that differ, unless they were asked to.
void check_comparable(const Variant& first, const Variant& other, const std::set<std::string>& varied) {
  for (const SettingDifference& difference : differences(first.configurations.front(), other.configurations.front())) {
    const std::string& key = difference.key;
    if (key != "costs" && key != "limits" && key != "horizon" && !key.starts_with("task.")) continue;
    if (varied.contains(key)) continue;
    throw UserError("{} and {} cannot be compared: {} is {} for one and {} for the other; --set {}=… sets it for all",
                    first.label, other.label, key, difference.before, difference.after, key);
  }
}

}  // namespace

std::string run_name(const std::string& label, std::uint64_t seed) { return fmt::format("{}-{}", label, seed); }

std::vector<Variant> resolve_variants(const CompareRequest& request, const Listener& listener) {
  if (request.algorithms.empty()) {
    throw UserError("compare needs algorithms, as in --algos a,b; there are: {}", algorithm_names());
  }
  std::vector<Axis> axes;
  std::set<std::string> varied;
  for (const std::string& text : request.vary) {
    axes.push_back(parse_axis(text));
    if (!varied.insert(axes.back().key).second) throw UserError("--vary names {} twice", axes.back().key);
  }
  std::vector<Variant> variants;
  const auto add = [&](const std::string& entry, const std::string& value) {
    Variant variant = resolve_variant(entry, value, request);
    if (const Variant* same = find_same(variants, variant)) {
      if (value.empty()) {
        throw UserError("--algos names the same twice: '{}' and '{}'; entries must differ in name, preset or settings",
                        same->label, variant.label);
      }
      listener.event(fmt::format("{} is left out: it is the same as {}", variant.label, same->label));
      return;
    }
    if (!variants.empty()) check_comparable(variants.front(), variant, varied);
    variants.push_back(std::move(variant));
  };
  for (const std::string& entry : split(request.algorithms, ',')) {
    if (axes.empty()) add(entry, "");
    for (const Axis& axis : axes) {
      for (const std::string& set : axis.sets) add(entry, set);
    }
  }
  return variants;
}

}  // namespace cgpo
