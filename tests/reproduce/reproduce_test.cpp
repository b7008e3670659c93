// Pieces are kept, and a command that was stopped goes on with the next one.
#include "cgpo/reproduce/reproduce.hpp"

#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/campaign/compare.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/reproduce/making.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Three pieces that count how often they are made.
struct Probe {
  std::vector<int> made = std::vector<int>(3, 0);
  int stop_at = -1;  // the piece that is interrupted
  int fails = -1;    // the one that says of itself that it failed
  int setting = 7;
  bool seeded = true;

  Reproduction reproduction() {
    return {"probe", "three pieces", [this](const ReproduceContext& context) {
              ReproductionPlan plan;
              plan.settings["setting"] = setting;
              plan.settings["nested"]["quick"] = context.quick;
              plan.adopted = {"taken"};
              plan.seeded = seeded;
              for (int i = 0; i < 3; ++i) {
                plan.pieces.push_back({"piece-" + std::to_string(i), [] { return 0.0; },
                                       [this, i](const Tick& tick) {
                                         if (i == stop_at) throw Stopped{2};
                                         tick(0.5);
                                         ++made[static_cast<std::size_t>(i)];
                                         Json json;
                                         json["value"] = 10 * i;
                                         json["missing"] = std::nan("");
                                         json["failed"] = i == fails;
                                         return json;
                                       }});
              }
              plan.report = [](const PieceResults& results) {
                ReproductionReport report;
                int sum = 0;
                for (const auto& [name, result] : results) {
                  sum += result["value"].get<int>();
                  EXPECT_TRUE(result["missing"].is_null());  // in memory as on the disk
                }
                report.text = "sum " + std::to_string(sum) + "\n";
                report.results["sum"] = sum;
                report.data.push_back({"numbers.csv", "x\n1\n"});
                return report;
              };
              return plan;
            }};
  }
};

ReproduceOutcome reproduce_one(const Reproduction& reproduction, const ReproduceOptions& options,
                               const fs::path& folder) {
  ThreadPool pool(options.threads);
  PreparedReproduction prepared = prepare_reproduction(reproduction, options, folder, pool);
  return make_reproduction(prepared);
}

class Reproduce : public ::testing::Test {
 protected:
  std::string message(Probe& probe, const ReproduceOptions& options = {}) {
    try {
      reproduce_one(probe.reproduction(), options, folder());
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder() const { return scratch_.path() / "out"; }
  ScratchFolder scratch_;
};

TEST_F(Reproduce, GoesOnWithThePieceThatWasInterrupted) {
  Probe probe;
  probe.stop_at = 1;
  EXPECT_THROW(reproduce_one(probe.reproduction(), {}, folder()), Stopped);
  EXPECT_FALSE(fs::exists(folder() / "probe.md"));  // nothing half-written
  probe.stop_at = -1;
  const ReproduceOutcome outcome = reproduce_one(probe.reproduction(), {}, folder());
  EXPECT_EQ(probe.made, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(outcome.json["results"]["sum"], 30);
  EXPECT_THAT(outcome.text, HasSubstr("sum 30"));
  EXPECT_EQ(read_file(folder() / "probe.md"), outcome.text);
  EXPECT_EQ(read_file(folder() / "numbers.csv"), "x\n1\n");

  // A piece that is damaged is made again, alone.
  std::ofstream(folder() / "pieces" / "piece-2.json") << "{\"seconds\": 1, \"resu";
  reproduce_one(probe.reproduction(), {}, folder());
  EXPECT_EQ(probe.made, (std::vector<int>{1, 1, 2}));
}

TEST_F(Reproduce, TellsTheListenerAndStopsWhenAsked) {
  Probe probe;
  std::vector<std::string> events;
  std::vector<std::string> statuses;
  int asked = 0;
  const Listener listener{.event = [&](const std::string& text) { events.push_back(text); },
                          .status = [&](const std::string& text) { statuses.push_back(text); },
                          .stop = [&] { return probe.made[0] > 0 ? ++asked, SIGTERM : 0; }};
  ThreadPool pool(1);
  const Reproduction reproduction = probe.reproduction();
  PreparedReproduction prepared = prepare_reproduction(reproduction, {}, folder(), pool, listener);
  try {
    make_reproduction(prepared);
    ADD_FAILURE() << "it did not stop";
  } catch (const Stopped& stopped) {
    EXPECT_EQ(stopped.signal, SIGTERM);
  }
  EXPECT_EQ(probe.made, (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0], "probe: timing a piece of the work first");
  EXPECT_THAT(events[1], HasSubstr("3 pieces, 0 done already"));
  EXPECT_THAT(events[2], HasSubstr("1/3 piece-0: "));
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_THAT(statuses[0], HasSubstr("1/3 piece-0 50 %"));
  // What was made is there for the next one.
  EXPECT_EQ(prepare_reproduction(reproduction, {}, folder(), pool).kept.size(), 1U);
}

TEST_F(Reproduce, RefusesAFolderOfOtherSettings) {
  Probe probe;
  EXPECT_EQ(message(probe), "");
  probe.setting = 8;
  EXPECT_THAT(message(probe), HasSubstr("settings.setting is 7 there, not 8"));
  probe.setting = 7;
  ReproduceOptions options;
  options.seeds = 3;
  EXPECT_THAT(message(probe, options), HasSubstr("seeds is 5 there, not 3"));
  EXPECT_EQ(probe.made, (std::vector<int>{1, 1, 1}));
}

TEST_F(Reproduce, MakesAPieceAgainThatFailed) {
  Probe probe;
  probe.fails = 1;
  EXPECT_TRUE(reproduce_one(probe.reproduction(), {}, folder()).failed);
  probe.fails = -1;
  EXPECT_FALSE(reproduce_one(probe.reproduction(), {}, folder()).failed);
  EXPECT_EQ(probe.made, (std::vector<int>{1, 2, 1}));
}

TEST_F(Reproduce, SeedsCountForNothingWhereAllTrainingsHaveSeedZero) {
  Probe probe;
  EXPECT_THAT(reproduce_one(probe.reproduction(), {}, folder()).text, HasSubstr("reproduce probe --seeds 5`"));
  probe.seeded = false;  // a folder from when they were written down is still its own
  ReproduceOptions options;
  options.seeds = 3;
  EXPECT_THAT(reproduce_one(probe.reproduction(), options, folder()).text, HasSubstr("reproduce probe`"));
  EXPECT_EQ(probe.made, (std::vector<int>{1, 1, 1}));
}

// Seeds below 1000 are for choosing settings.
TEST_F(Reproduce, FirstSeedIsThatOfPublishedNumbersUnlessAskedFor) {
  Probe probe;
  const ReproduceOutcome plain = reproduce_one(probe.reproduction(), {}, folder());
  EXPECT_EQ(plain.json["first_seed"], 1000);
  EXPECT_THAT(plain.text, Not(HasSubstr("--first-seed")));
  ReproduceOptions options;
  options.first_seed = 7;
  EXPECT_THAT(message(probe, options), HasSubstr("first_seed is 1000 there, not 7"));
  fs::remove_all(folder());
  EXPECT_THAT(reproduce_one(probe.reproduction(), options, folder()).text,
              HasSubstr("reproduce probe --seeds 5 --first-seed 7`"));
}

TEST_F(Reproduce, FormsAreThoseOfTheReproduction) {
  Probe probe;
  Reproduction reproduction = probe.reproduction();
  reproduction.forms = {"best", "paper"};
  ReproduceOptions options;
  EXPECT_EQ(reproduce_one(reproduction, options, folder()).json["form"], "best");
  options.form = "paper";
  EXPECT_THROW(reproduce_one(reproduction, options, folder()), UserError);  // the folder is the other's
  const ReproduceOutcome paper = reproduce_one(reproduction, options, folder() / ".." / "paper");
  EXPECT_EQ(paper.json["form"], "paper");
  EXPECT_THAT(paper.text, HasSubstr("reproduce probe --seeds 5 --form paper`"));
  options.form = "letter";
  try {
    reproduce_one(reproduction, options, folder());
    ADD_FAILURE() << "it has no such form";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--form of probe must be best or paper, not 'letter'");
  }
  EXPECT_EQ(message(probe, {.form = "letter"}), "'" + folder().string() +
                                                    "' was made with other settings: it has more settings; give --out "
                                                    "another folder");  // one without forms takes any for none
}

TEST_F(Reproduce, TakesUpWhatItNamesAndRefusesOtherFiles) {
  Probe probe;
  fs::create_directories(folder() / "taken");
  EXPECT_EQ(message(probe), "");
  fs::remove_all(folder());
  fs::create_directories(folder() / "mine");
  EXPECT_THAT(message(probe), HasSubstr("holds other files"));
  EXPECT_FALSE(fs::exists(folder() / "reproduce.json"));
}

// With every task of the registry in it, also those that are nothing without an option.
TEST(Reproductions, AllCanBePlanned) {
  const ScratchFolder scratch;
  ThreadPool pool(1);
  for (const Reproduction& reproduction : reproductions()) {
    for (const bool quick : {false, true}) {
      ReproduceContext context;
      context.quick = quick;
      context.folder = scratch.path();
      context.pool = &pool;
      ASSERT_NO_THROW(EXPECT_FALSE(reproduction.plan(context).pieces.empty())) << reproduction.name;
    }
  }
}

// Iterations and episodes of the paper's own table; at its best an algorithm has what it is shipped with.
TEST(Reproductions, Table1HasTwoForms) {
  const ScratchFolder scratch;
  ThreadPool pool(1);
  ReproduceContext context;
  context.folder = scratch.path();
  context.pool = &pool;
  const auto settings = [&](const std::string& form) {
    context.form = form;
    return table1_reproduction().plan(context).settings;
  };
  EXPECT_EQ(table1_reproduction().forms, (std::vector<std::string>{"best", "paper"}));
  const Json best = settings("best");
  EXPECT_EQ(best["seeds_of_cgpo"], 20);
  EXPECT_EQ(best["evaluated"], 8192);
  for (const auto& [task, sets] : best["sets"].items()) EXPECT_TRUE(sets.empty()) << task;
  const Json paper = settings("paper")["sets"];
  const std::vector<std::array<std::string, 3>> letters = {{"cartpole", "iterations=100", "environments=128"},
                                                           {"reacher", "iterations=300", "environments=128"},
                                                           {"halfcheetah", "iterations=300", "environments=128"},
                                                           {"ant", "iterations=300", "environments=256"}};
  for (const auto& [task, iterations, environments] : letters) {
    EXPECT_EQ(paper[task][0], iterations) << task;
    EXPECT_EQ(paper[task][1], environments) << task;
  }
}

// CGPO has more of them than the others, and all begin at the same one.
TEST(Comparisons, AnEntryMayHaveSeedsOfItsOwn) {
  const ScratchFolder scratch;
  CompareRequest request;
  request.task = "function";
  request.algorithms = "cgpo,cpo";
  request.seeds = 2;
  request.seeds_of["cgpo"] = 3;
  request.first_seed = 1000;
  request.out = (scratch.path() / "all").string();
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (const PendingRun& run : pending_runs(request)) found.emplace_back(run.label, run.configuration.seed);
  const std::vector<std::pair<std::string, std::uint64_t>> wanted = {
      {"cgpo", 1000}, {"cgpo", 1001}, {"cgpo", 1002}, {"cpo", 1000}, {"cpo", 1001}};
  EXPECT_EQ(found, wanted);
}

// A quick plan, and the same numbers for all of its pieces.
struct MadeUp {
  MadeUp(const Reproduction& reproduction, const fs::path& folder, const Json& result) {
    ReproduceContext context;
    context.quick = true;
    context.seeds = 2;
    context.folder = folder;
    context.pool = &pool;
    plan = reproduction.plan(context);
    for (const Piece& piece : plan.pieces) results[piece.name] = result;
  }
  ThreadPool pool{1};
  ReproductionPlan plan;
  PieceResults results;
};

TEST(Reproductions, ErrorsReportsSizesMediansAndWhatAbeForesees) {
  const ScratchFolder scratch;
  const Json piece = {{"shac", {0.1, 0.2, 0.6}},     {"bptt", {1.0, nullptr, 3.0}},       {"abe", {0.5, 0.5, 2.0}},
                      {"change", {-3.0, 1.0, -2.0}}, {"abe_predicted", {-1.5, 0.5, 2.0}}, {"diverged", 4}};
  const MadeUp errors(errors_reproduction(), scratch.path(), piece);
  const ReproductionReport report = errors.plan.report(errors.results);
  EXPECT_THAT(report.text,
              HasSubstr("| halfcheetah | 0.5 | 25 | 2 ± 1 | 0.2 (0.3) | 2 (2) | 0.5 (1) | — (—) | 0.5 |\n"));
  EXPECT_THAT(report.text, HasSubstr("Updates: 10, each from episodes of its own: 64."));
  EXPECT_THAT(report.text, HasSubstr("one training each, seed 1000"));
  ASSERT_EQ(report.pictures.size(), 1U);
  EXPECT_EQ(report.pictures[0].name, "errors");
  EXPECT_THAT(report.pictures[0].content, HasSubstr("set output 'errors.svg'"));
  EXPECT_THAT(report.pictures[0].content, HasSubstr("'errors-halfcheetah-0.5.csv'"));
  ASSERT_EQ(report.results.size(), 16U);
  EXPECT_EQ(report.results[0]["change"], piece["change"]);
  EXPECT_EQ(report.results[0]["abe_predicted"], piece["abe_predicted"]);
  EXPECT_EQ(report.results[0]["diverged"], 4);
  EXPECT_TRUE(report.results[0]["shac_predicted"].is_null());  // a piece from before it was written down
}

TEST(Reproductions, FobgReportsEachKindAndLinksPicturesThatAreThere) {
  const ScratchFolder scratch;
  MadeUp fobg(fobg_reproduction(), scratch.path(),
              {{"first", {0.01, 0.03}}, {"zeroth", {4.0, 2.0}}, {"zeroth_elsewhere", {0.5, nullptr}}});
  fobg.results["T-10-length-0.005"]["zeroth"] = {7.0, 9.0};
  for (const char* task : {"training-function", "training-cartpole"})
    fobg.results[task] = {{"comparison", {{"task", task}}}};
  const ReproductionReport report = fobg.plan.report(fobg.results);
  EXPECT_THAT(report.text, HasSubstr("| 0.005 | mean ± deviation | 3 ± 1.41 | 8 ± 1.41 | 3 ± 1.41 |\n"));
  EXPECT_THAT(report.text, HasSubstr("|  | paper | 1.630 ± 11.76 | 22.56 ± 132.8 | 202.4 ± 291.1 |\n"));
  EXPECT_THAT(report.text, HasSubstr("The limit is 8 at every T"));
  EXPECT_THAT(report.text, Not(HasSubstr("curves.svg")));  // none was drawn
  ASSERT_EQ(report.pictures.size(), 1U);
  EXPECT_EQ(report.pictures[0].name, "fobg");
  EXPECT_THAT(report.pictures[0].content, HasSubstr("set output 'fobg.svg'"));
  fs::create_directories(scratch.path() / "training-function");
  std::ofstream(scratch.path() / "training-function" / "curves.svg") << "<svg/>";
  EXPECT_THAT(fobg.plan.report(fobg.results).text, HasSubstr("![function](training-function/curves.svg)"));
}

TEST(Pictures, EachHasAFileForWhatGnuplotSays) {
  const ScratchFolder scratch;
  const std::string trouble = draw_picture(scratch.path(), "first", "no such command\n");
  if (trouble.find("not installed") != std::string::npos) GTEST_SKIP() << trouble;
  EXPECT_THAT(draw_picture(scratch.path(), "second", "this neither\n"), HasSubstr("second.gnuplot.out"));
  EXPECT_THAT(read_file(scratch.path() / "first.gnuplot.out"), HasSubstr("no such command"));
  EXPECT_THAT(read_file(scratch.path() / "second.gnuplot.out"), HasSubstr("this neither"));
}

}  // namespace
}  // namespace cgpo
