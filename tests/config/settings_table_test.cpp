// The table of settings as a whole: what no single key can be asked.
#include <cctype>
#include <gtest/gtest.h>
#include <set>

#include "cgpo/config/keys.hpp"

namespace cgpo {
namespace {

TEST(SettingsTable, EveryDefaultIsInsideItsRange) {
  const Settings standard;
  for (const Key& key : settings_keys()) {
    Settings settings;
    const Value value = key.get(standard);
    EXPECT_NO_THROW(key.set(settings, value)) << key.name;
    EXPECT_EQ(format_value(key.get(settings)), format_value(value)) << key.name;
  }
}

TEST(SettingsTable, EveryKeyIsItsOwnSetting) {
  // Two rows that named one member would change together.
  for (const Key& key : settings_keys()) {
    EXPECT_EQ(find_key(key.name), &key);
    for (const char* text : {"0.5", "7", "true", "false", "[7]", "[\"a\"]", "\"action\"", "\"euclid\"", "\"paper\"",
                             "\"episode\"", "\"zobg\"", "\"step\"", "\"raw\"", "\"adam\"", "\"natural\"", "\"one\"",
                             "\"model\"", "\"interpreter\"", "2.5"}) {
      Settings settings;
      try {
        key.set(settings, make_assignment("key", text, "test").value);
      } catch (const std::exception&) {
        continue;
      }
      for (const Key& other : settings_keys()) {
        if (&other == &key) continue;
        EXPECT_EQ(format_value(other.get(settings)), format_value(other.get(Settings()))) << key.name << other.name;
      }
    }
  }
}

TEST(SettingsTable, SectionsStandTogetherAndKeysWithoutOneComeFirst) {
  std::set<std::string> seen;
  std::string last;
  for (const Key& key : settings_keys()) {
    const std::string section = section_of(key.name);
    if (section == last) continue;
    EXPECT_TRUE(seen.insert(section).second) << key.name;
    EXPECT_FALSE(section.empty()) << key.name;
    last = section;
  }
}

TEST(SettingsTable, MeaningsStandAlone) {
  std::set<std::string_view> meanings;
  for (const Key& key : settings_keys()) {
    ASSERT_FALSE(key.meaning.empty()) << key.name;
    EXPECT_NE(std::islower(static_cast<unsigned char>(key.meaning.front())), 0) << key.name;
    EXPECT_NE(key.meaning.back(), '.') << key.name;
    for (const char* middle : {"of ", "and ", "it ", "its ", "that ", "added ", "in what "}) {
      EXPECT_FALSE(key.meaning.starts_with(middle)) << key.name << ": " << key.meaning;
    }
    EXPECT_EQ(key.type() == "boolean", key.meaning.starts_with("whether ")) << key.name;
    EXPECT_TRUE(meanings.insert(key.meaning).second) << key.name;
    EXPECT_FALSE(key.range().empty()) << key.name;
  }
}

TEST(SettingsTable, RangesAreWords) {
  EXPECT_EQ(find_key("iterations")->range(), "from 1 to 1000000");
  EXPECT_EQ(find_key("iterations")->allowed(), "a whole number from 1 to 1000000");
  EXPECT_EQ(find_key("radius.grow")->allowed(), "a number above 1");
  EXPECT_EQ(find_key("radius.shrink")->range(), "above 0 and below 1");
  EXPECT_EQ(find_key("discount")->range(), "at least 0 and below 1");
  EXPECT_EQ(find_key("discount")->allowed(), "a number of at least 0 and below 1");
  EXPECT_EQ(find_key("update.learning_rate")->range(), "above 0 and at most 1");
  EXPECT_EQ(find_key("critic.targets")->allowed(), "one of \"window\", \"episode\"");
  EXPECT_EQ(find_key("critic.fit_first")->allowed(), "true or false");
  EXPECT_EQ(find_key("world.hidden")->allowed(), "a list of 1 to 8 whole numbers from 1 to 4096");
  EXPECT_EQ(find_key("nothing"), nullptr);
}

}  // namespace
}  // namespace cgpo
