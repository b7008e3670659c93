#include "cgpo/view/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "cgpo/base/base64.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/judge/curves.hpp"
#include "cgpo/page/page.hpp"
#include "cgpo/tasks/registry.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;

LogEntry entry(int iteration, double value, double cost) {
  LogEntry result;
  result.seconds = 0.5 * (iteration + 1);
  result.report.iteration = iteration;
  result.report.steps = 100 * (iteration + 1);
  result.report.return_mean = value;
  result.report.return_se = 0.25;
  result.report.costs = {cost};
  result.report.costs_se = {0.5};
  result.report.limits = {8.0};
  result.report.update_case = "free";
  return result;
}

TEST(Curves, OfOneLogAreItsNumbers) {
  const std::vector<std::vector<LogEntry>> logs = {{entry(0, 1.5, 7.0), entry(1, kNan, 9.0), entry(2, 2.5, 8.0)}};
  const Json curves = curves_json(logs, {"height"});
  EXPECT_EQ(curves.at("steps"), Json({100.0, 200.0, 300.0}));
  EXPECT_EQ(curves.at("iteration"), Json({1.0, 2.0, 3.0}));
  EXPECT_EQ(curves.at("seconds"), Json({0.5, 1.0, 1.5}));
  EXPECT_EQ(curves.at("case"), Json({"free", "free", "free"}));
  EXPECT_EQ(curves.at("series").at("return").at("mean"), Json({1.5, nullptr, 2.5}));
  EXPECT_EQ(curves.at("series").at("return").at("half"), Json({0.49, 0.49, 0.49}));
  EXPECT_EQ(curves.at("series").at("cost/height").at("mean"), Json({7.0, 9.0, 8.0}));
  EXPECT_FALSE(curves.at("series").contains("radius"));  // no line has one
  EXPECT_EQ(curves.dump().find("nan"), std::string::npos);
}

TEST(Curves, FromALineOn) {
  const std::vector<std::vector<LogEntry>> logs = {{entry(0, 1.5, 7.0), entry(1, 3.5, 9.0)}};
  EXPECT_EQ(curves_json(logs, {"height"}, 1).at("series").at("return").at("mean"), Json::array({3.5}));
  EXPECT_EQ(curves_json(logs, {"height"}, 1).at("from"), 1);
  const Json beyond = curves_json(logs, {"height"}, 7);
  EXPECT_EQ(beyond.at("from"), 2);  // the log is shorter than the reader thinks
  EXPECT_TRUE(beyond.at("steps").empty());
}

// Two seeds, 1 and 3: mean 2, standard error 1, Student's t of one degree of freedom 12.7062.
TEST(Curves, OfSeveralSeedsAreMeansWithTheirInterval) {
  const std::vector<std::vector<LogEntry>> logs = {{entry(0, 1.0, 4.0), entry(1, 5.0, 6.0)}, {entry(0, 3.0, 4.0)}};
  const Json curves = curves_json(logs, {"height"});
  EXPECT_EQ(curves.at("series").at("return").at("mean"), Json({2.0, 5.0}));
  EXPECT_NEAR(curves.at("series").at("return").at("half")[0].get<double>(), 12.7062, 1e-4);
  EXPECT_TRUE(curves.at("series").at("return").at("half")[1].is_null());  // one run alone has no interval
  EXPECT_TRUE(curves.at("case").empty());
}

TEST(Curves, NumbersKeepSevenDigits) {
  EXPECT_EQ(page_number(123456789.0).get<double>(), 123456800.0);
  EXPECT_EQ(page_number(0.1 + 0.2).dump(), "0.3");
  EXPECT_TRUE(page_number(std::numeric_limits<double>::infinity()).is_null());
}

ReportedRun run_with(const std::vector<std::string>& sets, std::int64_t seed, const std::string& algorithm = "cgpo") {
  ConfigurationRequest request;
  request.task = "function";
  request.algorithm = algorithm;
  request.seed = seed;
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
  ReportedRun run;
  run.configuration = resolve_configuration(request);
  return run;
}

TEST(Groups, RunsThatDifferInTheSeedAloneBelongTogether) {
  const std::vector<RunGroup> groups =
      group_runs({run_with({}, 0), run_with({"radius.margin=0.1"}, 0), run_with({}, 7), run_with({}, 0, "ppo")});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].runs, (std::vector<std::size_t>{0, 2}));
  EXPECT_THAT(groups[0].label, HasSubstr("radius.margin = 0"));
  EXPECT_THAT(groups[1].label, HasSubstr("radius.margin = 0.1"));
  EXPECT_EQ(groups[2].label, "ppo");
}

TEST(Base64, KnownValues) {
  const auto encode = [](const std::string& text) { return encode_base64(std::as_bytes(std::span(text))); };
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foo"), "Zm9v");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(decode_base64(encode(all)), all);
  EXPECT_THROW(decode_base64("Zm9*"), std::runtime_error);
}

// The data as a browser would find it.
Json data_in(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t first = page.find(begin) + begin.size();
  return Json::parse(page.substr(first, page.find("</script>", first) - first));
}

TEST(Page, DataCannotEndItsElement) {
  const Json data = {{"text", "</script><b>\"&'\u2028 <!-- ☃ ]]>"}, {"{{data}}", "{{script}}"}};
  const std::string page = make_page("<i> & \"title\"", data.dump(), false);
  EXPECT_EQ(data_in(page), data);
  EXPECT_THAT(page, HasSubstr("<title>&lt;i&gt; &amp; &quot;title&quot;</title>"));
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

// A task of somebody's own program, with a name that no file system or markup likes.
TEST(Page, TaskWithAnOddName) {
  const std::string name = "a/b</script><b>\"x\" & ü\\n☃";
  TaskEntry odd = find_task("function");
  odd.name = name;
  task_registry().push_back(odd);
  ReportedRun run = run_with({}, 0);
  run.configuration.task = name;
  run.paths.folder = name;
  run.log = {entry(0, 1.0, 2.0)};
  ThreadPool pool(1);
  const std::string page = page_from(page_data({run}, {.episodes = 0, .replays = 0}, pool));
  task_registry().pop_back();
  EXPECT_EQ(data_in(page).at("task"), name);
  EXPECT_EQ(data_in(page).at("runs").at(0).at("folder"), name);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

// What an option that starts a program was set to: in the configuration, in labels, in the command and in the sentence
// about what went wrong.
TEST(Page, SecretsAreOnNoPage) {
  TaskEntry guarded = find_task("function");
  guarded.name = "guarded";
  guarded.options.push_back({.name = "key", .standard = std::string(), .help = "a text", .executes = true});
  guarded.options.push_back({.name = "note", .standard = std::string(), .help = "a text"});
  task_registry().push_back(guarded);
  const auto run_of = [](const std::string& key) {
    ConfigurationRequest request;
    request.task = "guarded";
    request.sets = {parse_assignment("task.key=" + key), parse_assignment("task.note=xylophone")};
    ReportedRun run;
    run.configuration = resolve_configuration(request);
    run.configuration.init = "timbuktu/from";
    run.paths.folder = "zanzibar/" + key;
    return run;
  };
  const char* const words[] = {
      "my_tasks", "report", "my quagga", "--set", "task.key = sesame1", "--set=task.key=sesame2"};
  set_command_words(6, words);
  ThreadPool pool(1);
  const PageOptions evaluated{.episodes = 4, .replays = 1};
  const Json data = page_data({run_of("sesame1"), run_of("sesame2")}, evaluated, pool);
  ReportedRun only = run_of("sesame3");
  only.paths.folder = "zanzibar/run/";
  const Json live = page_data({only}, {.episodes = 0, .replays = 0, .live = true}, pool);
  set_command_words(0, nullptr);
  task_registry().pop_back();

  Json rest = data;
  for (Json& run : rest.at("runs")) run.erase("folder");  // which this test has named after it
  EXPECT_EQ(rest.dump().find("sesame"), std::string::npos) << rest.dump();
  EXPECT_THAT(rest.at("runs").at(0).at("evaluation").at("problem").get<std::string>(), HasSubstr("zanzibar/…"));
  EXPECT_EQ(data.at("command"), "cgpo report 'my quagga' --set 'task.key=…' '--set=task.key=…'");
  EXPECT_THAT(data.dump(), HasSubstr("task.key"));
  EXPECT_THAT(data.dump(), HasSubstr("xylophone"));

  for (const char* const word : {"sesame", "quagga", "zanzibar", "timbuktu", "xylophone"}) {
    EXPECT_EQ(live.dump().find(word), std::string::npos) << word;
  }
  EXPECT_EQ(live.at("runs").at(0).at("folder"), "run");
}

TEST(Page, NamesNeedNotBeUtf8) {
  ReportedRun run = run_with({}, 0);
  run.paths.folder = std::string("r\xff\xfe");
  ThreadPool pool(1);
  EXPECT_NO_THROW(data_in(page_from(page_data({run}, {.episodes = 0, .replays = 0}, pool))));
}

TEST(Page, ThreeHundredIterationsStaySmall) {
  ReportedRun run = run_with({}, 0);
  for (int i = 0; i < 300; ++i) {
    LogEntry line = entry(i, 1.0 / (i + 3), 7.0 / (i + 7));
    line.report.radius = 1e-3 / (i + 1);
    line.report.gradient_norms = line.report.critic_losses = line.report.critic_explained = {0.1 / (i + 1), 1.0 / 3.0};
    run.log.push_back(line);
  }
  ThreadPool pool(1);
  EXPECT_LT(page_from(page_data({run}, {.episodes = 0, .replays = 0, .live = true}, pool)).size(), 2U << 20);
}

}  // namespace
}  // namespace cgpo
