// Values of a configuration and the text they are written as, which is TOML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cgpo {

struct Value {
  std::variant<bool, std::int64_t, double, std::string, std::vector<Value>> data;
};

// One line of a configuration: a dotted key, what it shall be, and where that was said (for messages).
struct Assignment {
  std::string key;
  Value value;
  std::string origin;  // "f.toml, line 3", "--set", …
};

// Reads back as the same value to the last bit.
std::string format_value(const Value& value);

// All of a TOML document, tables flattened to dotted keys. Throws UserError with name and line.
std::vector<Assignment> parse_document(std::string_view text, const std::string& name);

// A TOML document that is one array of tables, [[array]]: each table like a document by itself.
std::vector<std::vector<Assignment>> parse_blocks(std::string_view text, const std::string& name,
                                                  const std::string& array);

// One "key=value", as --set takes it. A bare word that is no TOML value is taken as a text.
Assignment parse_assignment(const std::string& text);

// The same for a key and a value that are apart already.
Assignment make_assignment(const std::string& key, const std::string& text, const std::string& origin);

}  // namespace cgpo
