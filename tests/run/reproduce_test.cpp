// Pieces are kept, and a command that was stopped goes on with the next one.
#include "cgpo/run/reproduce.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Three pieces that count how often they are made.
struct Probe {
  std::vector<int> made = std::vector<int>(3, 0);
  int stop_at = -1;  // the piece that is interrupted
  int setting = 7;

  Reproduction reproduction() {
    return {"probe", "three pieces", [this](const ReproduceContext& context) {
              ReproductionPlan plan;
              plan.settings["setting"] = setting;
              plan.settings["nested"]["quick"] = context.quick;
              plan.adopted = {"taken"};
              for (int i = 0; i < 3; ++i) {
                plan.pieces.push_back({"piece-" + std::to_string(i), [] { return 0.0; },
                                       [this, i](const Tick& tick) {
                                         if (i == stop_at) throw Stopped{2};
                                         tick(0.5);
                                         ++made[static_cast<std::size_t>(i)];
                                         Json json;
                                         json["value"] = 10 * i;
                                         json["missing"] = std::nan("");
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

}  // namespace
}  // namespace cgpo
