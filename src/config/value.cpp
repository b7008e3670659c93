#include "cgpo/config/value.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <toml++/toml.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/nesting.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

std::string format_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0.0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", number);  // the shortest that reads back as the same number
  // TOML tells a number with a fraction from a whole one by its text.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string format_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {  // TOML takes none of these as they are
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

// Nothing for a date or a table: no key takes one.
std::optional<Value> convert(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return Value{flag->get()};
  if (const auto* integer = node.as_integer()) return Value{integer->get()};
  if (const auto* number = node.as_floating_point()) return Value{number->get()};
  if (const auto* text = node.as_string()) return Value{text->get()};
  const auto* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::vector<Value> list;
  for (const toml::node& item : *array) {
    std::optional<Value> value = convert(item);
    if (!value) return std::nullopt;
    list.push_back(std::move(*value));
  }
  return Value{std::move(list)};
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& name,
             std::vector<Assignment>& assignments) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, path + ".", name, assignments);
      continue;
    }
    const std::string origin = fmt::format("{}, line {}", name, node.source().begin.line);
    std::optional<Value> value = convert(node);
    if (!value) throw UserError("{}: {} cannot be a date or hold a table", origin, path);
    assignments.push_back({path, std::move(*value), origin});
  }
}

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (const int line = line_too_deep(text)) {
    throw UserError("{}, line {}: keys and lists are at most {} deep", name, line, kDeepestToml);
  }
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw UserError("{}, line {}: not TOML: {}", name, error.source().begin.line, error.description());
  }
}

bool is_bare_word(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
         });
}

}  // namespace

std::string format_value(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value.data)) return format_number(*number);
  if (const auto* text = std::get_if<std::string>(&value.data)) return format_text(*text);
  std::vector<std::string> items;
  for (const Value& item : std::get<std::vector<Value>>(value.data)) items.push_back(format_value(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::vector<Assignment> parse_document(std::string_view text, const std::string& name) {
  std::vector<Assignment> assignments;
  flatten(parse_toml(text, name), "", name, assignments);
  return assignments;
}

std::vector<std::vector<Assignment>> parse_blocks(std::string_view text, const std::string& name,
                                                  const std::string& array) {
  const toml::table document = parse_toml(text, name);
  const toml::array* tables = document.size() == 1 ? document[array].as_array() : nullptr;
  if (tables == nullptr) throw UserError("{}: there is something else than [[{}]]", name, array);
  std::vector<std::vector<Assignment>> blocks;
  for (const toml::node& node : *tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) throw UserError("{}: {} holds something else than tables", name, array);
    flatten(*table, "", name, blocks.emplace_back());
  }
  return blocks;
}

Assignment parse_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || trimmed(text.substr(0, equals)).empty()) {
    throw UserError("--set takes key=value, not '{}'; a TASK goes before it", text);
  }
  return make_assignment(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)), "--set");
}

Assignment make_assignment(const std::string& key, const std::string& text, const std::string& origin) {
  if (line_too_deep(text) != 0) throw UserError("{} {}: lists are at most {} deep", origin, key, kDeepestToml);
  try {
    const toml::table table = toml::parse("value = " + text);
    const toml::node* node = table.get("value");
    std::optional<Value> value = table.size() == 1 && node != nullptr ? convert(*node) : std::nullopt;
    if (!value) throw UserError("{} {}: '{}' is not a single number, text, true or false, or list", origin, key, text);
    return {key, std::move(*value), origin};
  } catch (const toml::parse_error&) {
    if (is_bare_word(text)) return {key, Value{text}, origin};
    // A shell takes quotes away: costs=["speed"] arrives as costs=[speed].
    const bool list = text.starts_with('[') && text.ends_with(']') && text.find('"') == std::string::npos;
    throw UserError(
        "{} {}: '{}' is not a TOML value{}", origin, key, text,
        list ? fmt::format("; texts in a list need quotes, and the shell's around all: --set '{}=[\"…\"]'", key) : "");
  }
}

}  // namespace cgpo
