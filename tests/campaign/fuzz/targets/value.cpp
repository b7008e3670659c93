// `--set key=value` and the values of configuration files: what is read is written as text that reads the same.
#include "cgpo/config/value.hpp"

#include "cgpo/config/keys.hpp"

#include "fuzz.hpp"

using namespace cgpo;

namespace {

bool same(const Value& a, const Value& b) {
  if (a.data.index() != b.data.index()) return false;
  if (const auto* number = std::get_if<double>(&a.data)) {
    const double other = std::get<double>(b.data);
    return fuzz::same_bits(*number, other) || (std::isnan(*number) && std::isnan(other));
  }
  const auto* list = std::get_if<std::vector<Value>>(&a.data);
  if (list == nullptr) {
    if (const auto* text = std::get_if<std::string>(&a.data)) return *text == std::get<std::string>(b.data);
    if (const auto* flag = std::get_if<bool>(&a.data)) return *flag == std::get<bool>(b.data);
    return std::get<std::int64_t>(a.data) == std::get<std::int64_t>(b.data);
  }
  const auto& other = std::get<std::vector<Value>>(b.data);
  return std::equal(list->begin(), list->end(), other.begin(), other.end(), same);
}

}  // namespace

CGPO_FUZZ(input) {
  const auto set = fuzz::accepted([&] { return parse_assignment(std::string(input)); });
  if (!set) return;
  const std::string text = format_value(set->value);
  const auto again = fuzz::accepted([&] { return make_assignment(set->key, text, "again"); });
  fuzz::require(again && same(set->value, again->value), "a value that was written reads back as the same");
  Settings settings;
  for (const Key& key : settings_keys()) {
    if (!fuzz::passes([&] { key.set(settings, set->value); })) continue;
    Settings copy;
    fuzz::require(fuzz::passes([&] { key.set(copy, key.get(settings)); }), "a key takes what it gives");
  }
}
