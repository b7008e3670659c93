// From TOML to a definition: which keys there are, and what they may be.
#include "cgpo/taskfile/definition.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <sstream>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/taskfile/document.hpp"
#include "cgpo/taskfile/functions.hpp"
#include "cgpo/taskfile/quantities.hpp"
#include "cgpo/taskfile/robot_table.hpp"

namespace cgpo {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostCosts = 16;

// Nobody may take a name that means something else already.
class Names {
 public:
  explicit Names(const Document& document) : document_(document) {}

  void add(const std::string& name, const Spot& spot, const std::string& where) {
    if (!is_name(name)) {
      document_.fail(spot, fmt::format("'{}' in {} cannot stand in an expression; a name has letters, digits and _",
                                       printable(name), where));
    }
    if (is_taken(name))
      document_.fail(spot, fmt::format("'{}' in {} means something already; choose another name", name, where));
    if (!seen_.insert(name).second) document_.fail(spot, fmt::format("'{}' in {} is there a second time", name, where));
  }

 private:
  static bool is_taken(std::string_view name) {
    const auto any = [](const auto& rows, const auto& is) { return std::any_of(rows.begin(), rows.end(), is); };
    return any(name_rows(), [name](const NameRow& row) { return row.name == name; }) ||
           any(function_rows(), [name](const FunctionRow& row) { return row.name == name; }) ||
           any(thing_rows(), [name](const ThingRow& row) { return row.word == name; });
  }

  const Document& document_;
  std::set<std::string> seen_;
};

SimulatorDefinition read_simulator(const Document& document, const toml::table& table) {
  const TableReader reader(document, table, "[simulator]", {"command", "timeout"});
  SimulatorDefinition simulator;
  simulator.command = reader.text("command");
  simulator.timeout = reader.number("timeout", 0.001, 1e6);
  simulator.spot = reader.spot("command");
  return simulator;
}

TaskOption read_option(const Document& document, const std::string& name, const toml::node& node) {
  if (const auto* const flag = node.as_boolean())
    return {.name = name, .standard = flag->get(), .help = "of the task file"};
  if (node.is_number())
    return {.name = name, .standard = node.value<double>().value_or(0.0), .help = "of the task file"};
  const toml::table* const table = node.as_table();
  if (table == nullptr) {
    document.fail(Document::spot_of(node), fmt::format("{} of [options] is a number, true or false, or a table of "
                                                       "value, low, high and help",
                                                       name));
  }
  const TableReader reader(document, *table, "[options." + name + "]", {"value", "low", "high", "help"});
  TaskOption option{.name = name, .standard = 0.0, .help = reader.text("help", "of the task file")};
  option.low = reader.number("low", -kInfinite, kInfinite).value_or(-kInfinite);
  option.high = reader.number("high", -kInfinite, kInfinite).value_or(kInfinite);
  const auto value = reader.number("value", option.low, option.high);
  if (!value) reader.missing("value", "the number that it has unless --set changes it");
  option.standard = *value;
  return option;
}

ResetDefinition read_reset(const TableReader& top) {
  ResetDefinition reset;
  const toml::table* const table = top.table("reset");
  if (table == nullptr) return reset;
  const TableReader reader(top.document(), *table, "[reset]", {"qpos", "qvel", "position", "velocity", "lift"});
  reset.qpos = reader.expression("qpos");
  reset.qvel = reader.expression("qvel");
  reset.position = reader.expressions("position");
  reset.velocity = reader.expressions("velocity");
  reset.lift = reader.flag("lift", false);
  return reset;
}

CostDefinition read_cost(const Document& document, const toml::table& table) {
  const TableReader reader(document, table, "[[costs]]",
                           {"name", "expression", "limit", "stops_at_end", "standard", "meaning"});
  CostDefinition cost;
  cost.spec.name = reader.text("name");
  if (cost.spec.name.empty()) reader.missing("name", "what reports call this cost");
  cost.expression = reader.needed_expression("expression");
  const auto limit = reader.number("limit", -kInfinite, kInfinite);
  if (!limit) reader.missing("limit", "the largest mean of its sum over an episode; inf: none");
  cost.spec.limit = *limit;
  cost.spec.stops_at_end = reader.flag("stops_at_end", true);
  cost.spec.standard = reader.flag("standard", true);
  cost.spec.meaning = reader.text("meaning", cost.expression.source.text);
  return cost;
}

// Keys of the configuration, tables flattened to dots.
void read_defaults(const Document& document, const toml::table& table, const std::string& prefix,
                   std::vector<std::pair<std::string, std::string>>& defaults) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* const inner = node.as_table()) {
      read_defaults(document, *inner, name + ".", defaults);
      continue;
    }
    if (node.is_date() || node.is_time() || node.is_date_time()) {
      document.fail(Document::spot_of(node), fmt::format("{} of [defaults] cannot be a date", name));
    }
    std::ostringstream text;
    node.visit([&text](const auto& value) {
      if constexpr (toml::is_array<decltype(value)>) {
        text << toml::toml_formatter(
            value, toml::toml_formatter::default_flags & ~toml::format_flags::allow_multi_line_strings);
      } else if constexpr (toml::is_value<decltype(value)>) {
        text << toml::toml_formatter(
            value, toml::toml_formatter::default_flags & ~toml::format_flags::allow_multi_line_strings);
      }
    });
    defaults.emplace_back(name, text.str());
  }
}

// A text or a list of them.
std::vector<Expression> read_observation(const TableReader& top) {
  const toml::node* const node = top.raw().get("observation");
  if (node == nullptr) top.missing("observation", "what the policy sees, an expression or a list of them");
  std::vector<Expression> expressions;
  if (const toml::array* const list = node->as_array()) {
    for (const toml::node& item : *list) {
      expressions.push_back(parse_expression(top.document().source_of(item, "an entry of observation")));
    }
  } else {
    expressions.push_back(parse_expression(top.document().source_of(*node, "observation")));
  }
  if (expressions.empty()) top.fail(top.spot("observation"), "observation has at least one entry");
  return expressions;
}

// What a copy says in place of its own file's name, and of the robot's.
struct EmbeddedParts {
  std::string name;
  std::optional<std::string> robot;
};
EmbeddedParts read_embedded(const TableReader& top) {
  EmbeddedParts parts;
  const toml::table* const table = top.table("embedded");
  if (table == nullptr) return parts;
  const TableReader reader(top.document(), *table, "[embedded]", {"name", "robot"});
  parts.name = reader.text("name");
  if (parts.name.empty()) reader.missing("name", "this table is of a copy that a run kept, with the task's name");
  if (reader.has("robot")) parts.robot = reader.text("robot");
  return parts;
}

// A name that a folder can have.
std::string read_task_name(const TableReader& top, const std::string& stem) {
  std::string name = top.text("name", stem);
  const bool fine = !name.empty() && name.size() <= 100 && name.front() != '.' && name.front() != '-' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                             c == '-' || c == '.';
                    });
  if (!fine) {
    top.fail(top.spot("name"), fmt::format("the task's name is '{}', and may have letters, digits, _ and - alone; say "
                                           "name = \"…\"",
                                           printable(name)));
  }
  return name;
}

// What the file says about its costs and clock together.
void check_definition(const TableReader& top, const TaskDefinition& definition) {
  std::set<std::string> costs;
  for (const CostDefinition& cost : definition.costs) {
    if (!costs.insert(cost.spec.name).second) {
      top.fail(top.spot("costs"), fmt::format("there are two costs named '{}'", printable(cost.spec.name)));
    }
  }
  if (definition.costs.size() > kMostCosts)
    top.fail(top.spot("costs"), fmt::format("a task has at most {} costs", kMostCosts));
  if (definition.robot && definition.period == 0.0) {
    top.missing("period", "seconds for which a robot keeps an action, such as 0.05");
  }
  if (definition.robot && top.has("actions")) {
    top.fail(top.spot("actions"), "actions is of tasks without a robot, whose actuators are its actions");
  }
  if (definition.robot && top.has("step")) {
    top.fail(top.spot("step"), "[step] is of tasks without a robot; states beside a robot keep what they began with");
  }
  if (definition.robot) return;
  if (definition.simulator) {
    top.fail(top.spot("simulator"),
             "[simulator] moves a robot, and there is no [robot]; what has none, and reward and "
             "costs of its own, is task external (docs/guide/your-own-simulator.md)");
  }
  if (!top.has("actions")) top.missing("actions", "how many numbers the policy chooses; or a [robot]");
  if (definition.states.empty()) top.missing("states", "the states and how they begin; or a [robot]");
  if (top.has("reset")) top.fail(top.spot("reset"), "[reset] is of a robot; states begin as [states] says");
}

}  // namespace

std::string quoted_for_toml(std::string_view text) {
  const bool plain = text.find('\n') != std::string_view::npos && text.find("'''") == std::string_view::npos &&
                     std::all_of(text.begin(), text.end(), [](char c) {
                       const auto byte = static_cast<unsigned char>(c);
                       return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
                     });
  if (plain) return fmt::format("'''\n{}\n'''", text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

TaskDefinition parse_definition(std::string_view text, const std::string& file, const std::string& stem) {
  const Document document(text, file);
  const TableReader top(document, document.root(), "", {"name",    "summary",      "horizon",
                                                        "period",  "actions",      "observation",
                                                        "reward",  "reward_paper", "reward_stops_at_end",
                                                        "end",     "robot",        "simulator",
                                                        "options", "define",       "draws",
                                                        "states",  "step",         "reset",
                                                        "costs",   "defaults",     "embedded"});
  TaskDefinition definition;
  definition.file = file;
  const EmbeddedParts embedded = read_embedded(top);
  definition.is_copy = top.has("embedded");
  definition.name = read_task_name(top, embedded.name.empty() ? stem : embedded.name);
  definition.summary = top.text("summary", "of the file " + definition.name + ".toml");
  const auto horizon = top.whole("horizon", 1, 1'000'000);
  if (!horizon) top.missing("horizon", "how many steps an episode has");
  definition.horizon = *horizon;
  definition.period = top.number("period", 1e-6, 1000.0).value_or(0.0);
  definition.actions = top.whole("actions", 1, 1000).value_or(0);
  if (const toml::table* const robot = top.table("robot")) definition.robot = read_robot(document, *robot);
  if (const toml::table* const simulator = top.table("simulator"))
    definition.simulator = read_simulator(document, *simulator);
  if (definition.robot && embedded.robot) definition.robot->mjcf = embedded.robot;
  if (definition.is_copy && definition.robot && !definition.robot->mjcf) {
    top.fail(top.spot("embedded"), "[embedded] is of a copy that a run kept, and lacks the robot");
  }
  if (const toml::table* const options = top.table("options")) {
    for (const auto& [key, node] : *options)
      definition.options.push_back(read_option(document, std::string(key.str()), node));
  }
  definition.define = top.expressions("define");
  definition.draws = top.expressions("draws");
  definition.states = top.expressions("states");
  definition.step = top.expressions("step");
  definition.reset = read_reset(top);
  definition.observation = read_observation(top);
  definition.reward = top.needed_expression("reward");
  definition.reward_paper = top.expression("reward_paper");
  definition.reward_stops_at_end = top.flag("reward_stops_at_end", true);
  definition.end = top.expression("end");
  for (const toml::table* const cost : top.tables("costs")) definition.costs.push_back(read_cost(document, *cost));
  if (const toml::table* const defaults = top.table("defaults"))
    read_defaults(document, *defaults, "", definition.defaults);
  check_definition(top, definition);

  Names names(document);
  for (const TaskOption& option : definition.options) names.add(option.name, top.spot("options"), "[options]");
  for (const NamedExpression& state : definition.states) names.add(state.name, state.spot, "[states]");
  for (const NamedExpression& drawn : definition.draws) names.add(drawn.name, drawn.spot, "[draws]");
  for (const NamedExpression& defined : definition.define) names.add(defined.name, defined.spot, "[define]");
  return definition;
}

bool mentions(const TaskDefinition& definition, const std::vector<std::string>& names) {
  bool found = false;
  const auto look = [&](const Expression& expression) {
    walk(expression, [&](const SyntaxNode& node) {
      found =
          found || (node.kind == NodeKind::kName && std::find(names.begin(), names.end(), node.word) != names.end());
    });
  };
  for (const auto* const list : {&definition.define, &definition.step}) {
    for (const NamedExpression& named : *list) look(named.expression);
  }
  for (const Expression& expression : definition.observation) look(expression);
  for (const CostDefinition& cost : definition.costs) look(cost.expression);
  look(definition.reward);
  for (const auto* const maybe : {&definition.reward_paper, &definition.end}) {
    if (*maybe) look(**maybe);
  }
  return found;
}

}  // namespace cgpo
