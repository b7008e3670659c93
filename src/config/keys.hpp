// Every key of a configuration but `task.*`: its name, what it may be, what it means, and the setting it stands for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cgpo/config/range.hpp"
#include "cgpo/config/value.hpp"
#include "cgpo/updates/settings.hpp"

namespace cgpo {

// Where a setting of type T stands among all settings.
template <class T>
struct Place {
  T& (*in)(Settings&) = nullptr;
  const T& (*read)(const Settings&) = nullptr;
};

// What a setting may be, by its type. Plain data without constructors: a function for each key took 13 s to compile.
struct IntegerField {
  Place<int> place;
  int low = 0;
  int high = 0;
};
struct NumberField {
  Place<double> place;
  Range range;
};
struct FlagField {
  Place<bool> place;
};
struct ChoiceField {  // of an enumeration, which is read and written as the index of a word
  std::size_t count = 0;
  std::string_view (*word)(std::size_t) = nullptr;
  std::size_t (*read)(const Settings&) = nullptr;  // `count`: the value has no word
  void (*write)(Settings&, std::size_t) = nullptr;
};
struct WidthsField {  // of a network's layers
  Place<std::vector<int>> place;
};
struct CostsField {
  Place<std::vector<std::string>> place;
};
struct LimitsField {
  Place<std::vector<double>> place;
};
using Field = std::variant<IntegerField, NumberField, FlagField, ChoiceField, WidthsField, CostsField, LimitsField>;

struct Key {
  std::string_view name;
  Field field;
  std::string_view meaning;  // stands alone in a listing: a noun, or `whether …`

  std::string type() const;                                // "integer", "list of numbers"
  std::string range() const;                               // "from 1 to 10"
  std::string allowed() const;                             // both as words: "a whole number from 1 to 10"
  void set(Settings& settings, const Value& value) const;  // throws UserError if the value is not allowed
  Value get(const Settings& settings) const;
};

// In the order in which they are written; the keys of a section stand together, those without one come first.
std::span<const Key> settings_keys();

const Key* find_key(std::string_view name);  // null: there is none

// Part of a key before its first dot; empty: it has none.
std::string section_of(std::string_view key);

}  // namespace cgpo
