#include "cgpo/config/setting_list.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/config/keys.hpp"
#include "cgpo/tasks/registry.hpp"

namespace cgpo {
namespace {

const ListedSetting& find(const std::vector<ListedSetting>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.name == name; });
  if (found == list.end()) throw std::runtime_error("no " + name);
  return *found;
}

TEST(SettingList, WithoutATaskHasEveryKeyWithTheProgramsDefault) {
  const std::vector<ListedSetting> list = list_settings({});
  ASSERT_EQ(list.size(), settings_keys().size());
  for (const Key& key : settings_keys()) {
    const ListedSetting& entry = find(list, std::string(key.name));
    EXPECT_EQ(format_value(entry.value), format_value(key.get(Settings()))) << key.name;
    EXPECT_EQ(entry.origin.who, "") << key.name;
    EXPECT_EQ(entry.meaning, key.meaning);
    EXPECT_FALSE(entry.type.empty() || entry.range.empty()) << key.name;
  }
}

TEST(SettingList, OfAnAlgorithmHasWhatItSets) {
  ConfigurationRequest request;
  request.algorithm = "cup";
  const std::vector<ListedSetting> list = list_settings(request);
  EXPECT_EQ(format_value(find(list, "dual.upper").value), "2.0");
  EXPECT_EQ(find(list, "dual.upper").origin.who, "algorithm cup");
  EXPECT_EQ(format_value(find(list, "horizon").value), "0");
}

// What is listed is what the file of a run says, key by key, and nothing is missing.
TEST(SettingList, OfATaskIsWhatARunsFileSays) {
  for (const char* task : {"function", "ant"}) {
    for (const char* algorithm : {"cgpo", "ppo-lag"}) {
      ConfigurationRequest request;
      request.task = task;
      request.algorithm = algorithm;
      const std::vector<ListedSetting> list = list_settings(request);
      std::size_t matched = 0;
      for (const ConfigurationLine& line : configuration_lines(resolve_configuration(request))) {
        if (line.key == "algorithm" || line.key == "preset" || line.key == "seed" || line.key == "task.name") continue;
        EXPECT_EQ(format_value(find(list, line.key).value), line.value) << line.key;
        ++matched;
      }
      EXPECT_EQ(matched, list.size());
    }
  }
}

TEST(SettingList, KnowsATasksOptions) {
  ConfigurationRequest request;
  request.task = "function";
  request.sets = {parse_assignment("task.start_width=2"), parse_assignment("window=3")};
  const std::vector<ListedSetting> list = list_settings(request);
  const ListedSetting& width = find(list, "task.start_width");
  EXPECT_EQ(width.type, "number");
  EXPECT_EQ(width.range, "from 0 to 100");
  EXPECT_EQ(width.origin.who, "--set");
  EXPECT_EQ(find(list, "task.measured").range, "one of \"before\", \"after\"");
  EXPECT_EQ(find(list, "task.measured").type, "text");
  EXPECT_EQ(find(list, "window").origin.who, "--set");
}

TEST(SettingList, RefusesWhatThereIsNot) {
  ConfigurationRequest request;
  request.task = "ants";
  EXPECT_THROW(list_settings(request), UserError);
  request.task.reset();
  request.algorithm = "pppo";
  EXPECT_THROW(list_settings(request), UserError);
  request.algorithm.reset();
  request.sets = {parse_assignment("task.start_width=2")};
  EXPECT_THROW(list_settings(request), UserError);
}

TEST(SettingList, OfATaskThatNeedsAnOptionItShowsTheOptions) {
  ConfigurationRequest request;
  request.task = "external";
  const std::vector<ListedSetting> list = list_settings(request);
  const auto found =
      std::find_if(list.begin(), list.end(), [](const ListedSetting& s) { return s.name == "task.command"; });
  ASSERT_NE(found, list.end());
  EXPECT_EQ(found->type, "text");
}

}  // namespace
}  // namespace cgpo
