#include "cgpo/config/keys.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

constexpr std::int64_t kWidest = 4096;
constexpr std::size_t kDeepest = 8;

[[noreturn]] void refuse(const Key& key, const Value& value, const std::string& hint = "") {
  throw UserError("{} must be {}, not {}{}", key.name, key.allowed(), format_value(value), hint);
}

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

// A single value stands for a list of one.
std::vector<Value> as_list(const Value& value) {
  const auto* list = std::get_if<std::vector<Value>>(&value.data);
  return list != nullptr ? *list : std::vector<Value>{value};
}

template <class T>
Value list_of(const std::vector<T>& items) {
  std::vector<Value> list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back({item});
  return {std::move(list)};
}

std::vector<std::string> words_of(const ChoiceField& field) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < field.count; ++i) words.emplace_back(field.word(i));
  return words;
}

// Of each type of field: the name of its type, what stands before its range in a sentence, the range, and how it is
// written and read.

std::string type_of(const IntegerField& /*field*/) { return "integer"; }
std::string type_of(const NumberField& /*field*/) { return "number"; }
std::string type_of(const FlagField& /*field*/) { return "boolean"; }
std::string type_of(const ChoiceField& /*field*/) { return "text"; }
std::string type_of(const WidthsField& /*field*/) { return "list of integers"; }
std::string type_of(const CostsField& /*field*/) { return "list of texts"; }
std::string type_of(const LimitsField& /*field*/) { return "list of numbers"; }

std::string kind_of(const IntegerField& /*field*/) { return "a whole number"; }
std::string kind_of(const NumberField& /*field*/) { return "a number"; }
std::string kind_of(const FlagField& /*field*/) { return ""; }
std::string kind_of(const ChoiceField& /*field*/) { return ""; }
std::string kind_of(const WidthsField& /*field*/) { return "a list of"; }
std::string kind_of(const CostsField& /*field*/) { return "a list of"; }
std::string kind_of(const LimitsField& /*field*/) { return "a list of"; }

std::string range_of(const IntegerField& field) { return fmt::format("from {} to {}", field.low, field.high); }
std::string range_of(const NumberField& field) { return field.range.words(); }
std::string range_of(const FlagField& /*field*/) { return "true or false"; }
std::string range_of(const ChoiceField& field) {
  std::string words;
  for (std::size_t i = 0; i < field.count; ++i) words += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", field.word(i));
  return field.count == 1 ? words : "one of " + words;
}
std::string range_of(const WidthsField& /*field*/) {
  return fmt::format("1 to {} whole numbers from 1 to {}", kDeepest, kWidest);
}
std::string range_of(const CostsField& /*field*/) { return "names of the task's costs"; }
std::string range_of(const LimitsField& /*field*/) { return "numbers, one a cost, where inf means no limit"; }

void write(const Key& key, const IntegerField& field, Settings& settings, const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (number == nullptr || *number < field.low || *number > field.high) refuse(key, value);
  field.place.in(settings) = static_cast<int>(*number);
}

void write(const Key& key, const NumberField& field, Settings& settings, const Value& value) {
  const std::optional<double> number = as_number(value);
  if (!number || !std::isfinite(*number) || !field.range.holds(*number)) refuse(key, value);
  field.place.in(settings) = *number;
}

void write(const Key& key, const FlagField& field, Settings& settings, const Value& value) {
  const auto* flag = std::get_if<bool>(&value.data);
  if (flag == nullptr) refuse(key, value);
  field.place.in(settings) = *flag;
}

void write(const Key& key, const ChoiceField& field, Settings& settings, const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr) refuse(key, value);
  for (std::size_t i = 0; i < field.count; ++i) {
    if (field.word(i) == *text) return field.write(settings, i);
  }
  refuse(key, value, did_you_mean(*text, words_of(field)));
}

void write(const Key& key, const WidthsField& field, Settings& settings, const Value& value) {
  std::vector<int> widths;
  for (const Value& item : as_list(value)) {
    const auto* width = std::get_if<std::int64_t>(&item.data);
    if (width == nullptr || *width < 1 || *width > kWidest) refuse(key, value);
    widths.push_back(static_cast<int>(*width));
  }
  if (widths.empty() || widths.size() > kDeepest) refuse(key, value);
  field.place.in(settings) = std::move(widths);
}

void write(const Key& key, const CostsField& field, Settings& settings, const Value& value) {
  std::vector<std::string> names;
  for (const Value& item : as_list(value)) {
    const auto* name = std::get_if<std::string>(&item.data);
    if (name == nullptr) refuse(key, value);
    names.push_back(*name);
  }
  field.place.in(settings) = std::move(names);
}

void write(const Key& key, const LimitsField& field, Settings& settings, const Value& value) {
  std::vector<double> limits;
  for (const Value& item : as_list(value)) {
    const std::optional<double> limit = as_number(item);
    if (!limit || std::isnan(*limit) || *limit == -std::numeric_limits<double>::infinity()) refuse(key, value);
    limits.push_back(*limit);
  }
  field.place.in(settings) = std::move(limits);
}

Value read(const IntegerField& field, const Settings& settings) { return {std::int64_t{field.place.read(settings)}}; }
Value read(const NumberField& field, const Settings& settings) { return {field.place.read(settings)}; }
Value read(const FlagField& field, const Settings& settings) { return {field.place.read(settings)}; }
Value read(const ChoiceField& field, const Settings& settings) {
  const std::size_t index = field.read(settings);
  if (index >= field.count) throw std::logic_error("a setting has a value without a word");
  return {std::string(field.word(index))};
}
Value read(const WidthsField& field, const Settings& settings) {
  const std::vector<int>& widths = field.place.read(settings);
  return list_of(std::vector<std::int64_t>(widths.begin(), widths.end()));
}
Value read(const CostsField& field, const Settings& settings) { return list_of(field.place.read(settings)); }
Value read(const LimitsField& field, const Settings& settings) { return list_of(field.place.read(settings)); }

}  // namespace

std::string Range::words() const {
  if (or_zero) return Range{low, high, low_open, high_open}.words() + ", or 0";
  if (low == -kInfinity && high == kInfinity) return "";
  if (low == -kInfinity) return fmt::format("{} {}", high_open ? "below" : "at most", high);
  if (high == kInfinity) return fmt::format("{} {}", low_open ? "above" : "at least", low);
  if (!low_open && !high_open) return fmt::format("from {} to {}", low, high);
  return fmt::format("{} {} and {} {}", low_open ? "above" : "at least", low, high_open ? "below" : "at most", high);
}

std::string Key::type() const {
  return std::visit([](const auto& held) { return type_of(held); }, field);
}

std::string Key::range() const {
  return std::visit([](const auto& held) { return range_of(held); }, field);
}

std::string Key::allowed() const {
  std::string words = std::visit([](const auto& held) { return kind_of(held); }, field);
  const std::string which = range();
  if (!words.empty() && !which.empty()) words += which.starts_with("at ") ? " of " : " ";
  return words + which;
}

void Key::set(Settings& settings, const Value& value) const {
  std::visit([&](const auto& held) { write(*this, held, settings, value); }, field);
}

Value Key::get(const Settings& settings) const {
  return std::visit([&](const auto& held) { return read(held, settings); }, field);
}

const Key* find_key(std::string_view name) {
  const std::span<const Key> keys = settings_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found != keys.end() ? &*found : nullptr;
}

std::string section_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string() : std::string(key.substr(0, dot));
}

}  // namespace cgpo
