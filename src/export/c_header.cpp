#include "cgpo/export/c_header.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

// @name@ and @NAME@ are what names begin with; the others are filled in below. The tanh is that of src/math, less its
// fused operations: (e^2|x| - 1) / (e^2|x| + 1).
constexpr std::string_view kHeader =
    R"C(/* A policy trained with @version@, as one C99 header: no memory of its own, no library, no state.
 *
 *   #include "policy.h"
 *   float obs[@NAME@_OBSERVATIONS], act[@NAME@_ACTIONS];
 *   @name@(obs, act);    every @NAME@_PERIOD seconds
 *
 * obs: the raw observation, as the task gives it; the network's normalisation is in here.
 * act: @action@.
 * A NaN that goes in comes out: check act before it reaches a motor.
 *
 * @name@_action gives the policy's own action, in (-1, 1); @name@_control makes a control of it.
 * To see that it computes here what it computed there (exit code 0): cc -D@NAME@_TEST -x c THIS_FILE && ./a.out
 * Functions are static inline, unless @NAME@_API says otherwise (-D@NAME@_API= makes them visible to other files).
 *
@comment@ */
#ifndef @NAME@_H
#define @NAME@_H

#include <stdint.h>
#include <string.h>

#define @NAME@_OBSERVATIONS @observations@
#define @NAME@_ACTIONS @actions@
#define @NAME@_PERIOD @period@ /* seconds of a control step; 0: the task has no clock */
#define @NAME@_TASK @task@
#define @NAME@_VERSION @version_text@
#define @NAME@_SEED @seed@
#define @NAME@_FEASIBLE @feasible@ /* the verdict: 1 keeps its limits, 0 does not, -1 unknown */
/* Initialisers of arrays: const char *names[] = @NAME@_OBSERVATION_NAMES; */
#define @NAME@_OBSERVATION_NAMES @observation_names@
#define @NAME@_ACTUATOR_NAMES @actuator_names@
#define @NAME@_JOINT_NAMES @joint_names@

#ifndef @NAME@_API
#define @NAME@_API static inline
#endif

/* Right to three units in the last place; a NaN stays one. */
static inline float @name@_tanh(float x) {
  const float size = x < 0.0f ? -x : x;
  const float t = size < 10.0f ? size + size : 20.0f; /* beyond 10 the result is 1 */
  const int n = (int)(t * 1.44269502f + 0.5f);        /* e^t = 2^n e^r */
  const float r = t - (float)n * 0.693359375f + (float)n * 0.000212194440f;
  const float p = (((0.00138654979f * r + 0.0083667282f) * r + 0.0416674949f) * r + 0.16666542f) * r + 0.49999997f;
  const uint32_t bits = (uint32_t)(n + 127) << 23;
  float power, e;
  memcpy(&power, &bits, sizeof power);
  e = (p * (r * r) + r) * power + (power - 1.0f); /* e^t - 1 */
  e = e / (e + 2.0f);
  return x != x ? x : x < 0.0f ? -e : e;
}

/* y = tanh(bias + sum of x[i] times row i of weight) */
static inline void @name@_layer(const float *weight, const float *bias, const float *x, int inputs, float *y,
                                int outputs) {
  int i, o;
  for (o = 0; o < outputs; ++o) y[o] = bias[o];
  for (i = 0; i < inputs; ++i) {
    for (o = 0; o < outputs; ++o) y[o] += x[i] * weight[i * outputs + o];
  }
  for (o = 0; o < outputs; ++o) y[o] = @name@_tanh(y[o]);
}

/* The policy's own action, in (-1, 1). The arrays may be the same. */
@NAME@_API void @name@_action(const float *obs, float *action) {
@tables@  float a[@widest@], b[@widest@];
  int i;
  for (i = 0; i < @NAME@_OBSERVATIONS; ++i) a[i] = (obs[i] - mean[i]) * inverse_std[i];
@layers@}

/* From such an action to the control. The arrays may be the same. */
@NAME@_API void @name@_control(const float *action, float *control) {
@rule@}

@NAME@_API void @name@(const float *obs, float *act) {
  @name@_action(obs, act);
  @name@_control(act, act);
}

#ifdef @NAME@_TEST
#include <stdio.h>
/* Observations, and what the trained policy does in them. */
int main(void) {
@examples@  float act[@NAME@_ACTIONS], worst = 0.0f;
  int k, i, wrong = 0;
  for (k = 0; k < @count@; ++k) {
    @name@(obs[k], act);
    for (i = 0; i < @NAME@_ACTIONS; ++i) {
      const float away = act[i] < expected[k][i] ? expected[k][i] - act[i] : act[i] - expected[k][i];
      const float size = expected[k][i] < 0.0f ? -expected[k][i] : expected[k][i];
      const float error = away / (size > 1.0f ? size : 1.0f);
      if (error > worst) worst = error;
      if (!(error <= 1e-5f)) ++wrong; /* a NaN, too */
    }
  }
  printf("@name@: %d examples, %d wrong numbers, largest error %g\n", @count@, wrong, (double)worst);
  return wrong == 0 ? 0 : 1;
}
#endif

#endif
)C";

// Words of C and C++ that would otherwise pass for a name, and what the header itself calls or defines.
constexpr std::string_view kTaken[] = {
    "alignas",  "alignof",  "and",     "asm",    "auto",     "bitand",    "bitor",    "bool",      "break",
    "case",     "catch",    "char",    "class",  "compl",    "concept",   "const",    "constexpr", "continue",
    "decltype", "default",  "delete",  "do",     "double",   "else",      "enum",     "explicit",  "export",
    "extern",   "false",    "float",   "for",    "friend",   "goto",      "if",       "inline",    "int",
    "int32_t",  "long",     "main",    "memcpy", "mutable",  "namespace", "new",      "noexcept",  "not",
    "nullptr",  "operator", "or",      "printf", "private",  "protected", "public",   "register",  "requires",
    "restrict", "return",   "short",   "signed", "sizeof",   "static",    "struct",   "switch",    "template",
    "this",     "throw",    "true",    "try",    "typedef",  "typeid",    "typename", "uint32_t",  "union",
    "unsigned", "using",    "virtual", "void",   "volatile", "while",     "xor",
};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

// A number of C that is not an int.
std::string floating(const std::string& digits) {
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

// Nine digits tell every float from its neighbours. fmt writes a point in every locale.
std::string number(float value) { return floating(fmt::format("{:.9g}", value)) + "f"; }

std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?' || byte < 0x20 || byte > 0x7e) {
      quoted += fmt::format("\\{:03o}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// What ends a comment, begins one in it, or is a trigraph, is taken apart.
std::string in_comment(const std::string& text) {
  std::string apart;
  for (const char c : text) {
    const char last = apart.empty() ? ' ' : apart.back();
    if ((last == '*' && c == '/') || (last == '/' && c == '*') || (last == '?' && c == '?')) apart += ' ';
    apart += c;
  }
  return apart;
}

std::string name_list(const Json& names) {
  std::string list;
  for (const Json& name : names) {
    if (!list.empty()) list += ", ";
    list += literal(name.is_string() ? name.get<std::string>() : "");
  }
  return fmt::format("{{{}}}", list);
}

std::string initialiser(std::span<const float> values) {
  std::string text = "{";
  std::size_t line = 0;
  for (const float value : values) {
    if (text.size() > 1) text += ',';
    text += text.size() - line > 100 ? "\n      " : " ";
    if (text.ends_with("\n      ")) line = text.size();
    text += number(value);
  }
  return text + " }";
}

std::string table(const std::string& name, std::span<const float> values) {
  return fmt::format("  static const float {}[{}] = {};\n", name, values.size(), initialiser(values));
}

std::string rows_table(const std::string& name, std::span<const float> values, int rows) {
  const std::size_t width = values.size() / static_cast<std::size_t>(rows);
  std::string text = fmt::format("  static const float {}[{}][{}] = {{\n", name, rows, width);
  for (int row = 0; row < rows; ++row) {
    text += fmt::format("    {},\n", initialiser(values.subspan(static_cast<std::size_t>(row) * width, width)));
  }
  return text + "  };\n";
}

// One row an input, so that a loop over outputs runs along it.
std::vector<float> transposed(const DenseLayer& layer) {
  std::vector<float> weight;
  for (int i = 0; i < layer.inputs; ++i) {
    for (int o = 0; o < layer.outputs; ++o) {
      weight.push_back(layer.weight[static_cast<std::size_t>(o) * static_cast<std::size_t>(layer.inputs) +
                                    static_cast<std::size_t>(i)]);
    }
  }
  return weight;
}

std::string table_code(const DeployedPolicy& policy) {
  std::string text = table("mean", policy.mean) + table("inverse_std", policy.inverse_std);
  for (std::size_t l = 0; l < policy.layers.size(); ++l) {
    text += table(fmt::format("weight{}", l), transposed(policy.layers[l]));
    text += table(fmt::format("bias{}", l), policy.layers[l].bias);
  }
  return text;
}

std::string layer_code(const DeployedPolicy& policy, const std::string& name) {
  std::string text;
  const char* from = "a";
  for (std::size_t l = 0; l < policy.layers.size(); ++l) {
    const DenseLayer& layer = policy.layers[l];
    const char* const to = l + 1 == policy.layers.size() ? "action" : from[0] == 'a' ? "b" : "a";
    text += fmt::format("  {0}_layer(weight{1}, bias{1}, {2}, {3}, {4}, {5});\n", name, l, from, layer.inputs, to,
                        layer.outputs);
    from = to;
  }
  return text;
}

// Comparisons let NaN through, as fmin and fmax would not.
std::string rule_code(const ControlRule& rule, const std::string& macros) {
  std::string text;
  std::string control = "action[i]";
  if (rule.scales()) {
    text += table("scale", rule.scale);
    control = fmt::format("scale[i] * {}", control);
  }
  if (rule.shifts()) {
    text += table("offset", rule.offset);
    control = fmt::format("offset[i] + {}", control);
  }
  if (rule.clips()) {
    const auto finite = [](std::vector<float> bounds) {
      for (float& bound : bounds)
        bound = std::clamp(bound, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max());
      return bounds;
    };
    text += table("low", finite(rule.low)) + table("high", finite(rule.high));
  }
  text += fmt::format("  int i;\n  for (i = 0; i < {}_ACTIONS; ++i) {{\n    const float c = {};\n", macros, control);
  text +=
      rule.clips() ? "    control[i] = c < low[i] ? low[i] : c > high[i] ? high[i] : c;\n" : "    control[i] = c;\n";
  return text + "  }\n";
}

std::string comment_code(const Json& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata.items()) {
    if (!key.starts_with("example_")) text += fmt::format(" * {}: {}\n", key, in_comment(metadata_text(value)));
  }
  return text;
}

std::string filled(std::string_view form, const std::map<std::string, std::string>& parts) {
  std::string text;
  while (!form.empty()) {
    const std::size_t begin = form.find('@');
    text += form.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = form.find('@', begin + 1);
    text += parts.at(std::string(form.substr(begin + 1, end - begin - 1)));
    form.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

void check_c_name(const std::string& name) {
  if (std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken)) {
    throw UserError("--name is what names in C begin with, and '{}' means something in C or C++ already", name);
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto later = [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  if (!name.empty() && name.size() <= 64 && letter(name.front()) && std::all_of(name.begin(), name.end(), later) &&
      name.find("__") == std::string::npos) {
    return;
  }
  throw UserError("--name is what names in C begin with: a letter, then letters, digits and single _, not '{}'",
                  printable(name));
}

std::string c_header(const DeployedPolicy& policy, const std::string& name) {
  const Json& metadata = policy.metadata;
  const std::string macros = upper(name);
  int widest = policy.observations;
  for (const DenseLayer& layer : policy.layers) widest = std::max(widest, layer.outputs);
  const Json& period = metadata.at("control_period");
  const Json& feasible = metadata.at("feasible");
  return filled(kHeader, {{"name", name},
                          {"NAME", macros},
                          {"version", metadata.at("version").get<std::string>()},
                          {"version_text", literal(metadata.at("version").get<std::string>())},
                          {"action", in_comment(metadata_text(metadata.at("action")))},
                          {"comment", comment_code(metadata)},
                          {"observations", std::to_string(policy.observations)},
                          {"actions", std::to_string(policy.actions)},
                          {"period", floating(period.is_null() ? "0" : fmt::format("{}", period.get<double>()))},
                          {"task", literal(metadata.at("task").get<std::string>())},
                          {"seed", std::to_string(metadata.at("seed").get<std::uint64_t>()) + "u"},
                          {"feasible", feasible.is_null()     ? "(-1)"
                                       : feasible.get<bool>() ? "1"
                                                              : "0"},
                          {"observation_names", name_list(metadata.at("observations"))},
                          {"actuator_names", name_list(metadata.at("actuators"))},
                          {"joint_names", name_list(metadata.at("joints"))},
                          {"tables", table_code(policy)},
                          {"widest", std::to_string(widest)},
                          {"layers", layer_code(policy, name)},
                          {"rule", rule_code(policy.rule, macros)},
                          {"examples", rows_table("obs", policy.examples.observations, policy.examples.count) +
                                           rows_table("expected", policy.examples.controls, policy.examples.count)},
                          {"count", std::to_string(policy.examples.count)}});
}

}  // namespace cgpo
