// The paper's appendix on first-order and zeroth-order gradients: both tables, and the trainings.
#include <fmt/format.h>
#include <map>
#include <memory>

#include "cgpo/base/table.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/reproduce/parts.hpp"
#include "cgpo/studies/gradient_sources.hpp"

namespace cgpo {
namespace {

constexpr double kNoise = 0.5;  // σ: score functions need noise
const std::vector<double> kLengths = {1e-4, 5e-4, 1e-3, 5e-3, 1e-2};

// The paper's tables, "mean ± deviation", in the order of lengths and of T.
const std::vector<std::vector<std::string>> kPaperFirst = {
    {"0.0081 ± 0.0070", "0.0033 ± 0.0029", "0.0018 ± 0.0015", "0.0007 ± 0.0006", "0.0011 ± 0.0014", "0.0015 ± 0.0024"},
    {"0.0029 ± 0.0022", "0.0027 ± 0.0021", "0.0027 ± 0.0022", "0.0030 ± 0.0028", "0.0059 ± 0.0163", "0.0129 ± 0.0606"},
    {"0.0050 ± 0.0038", "0.0046 ± 0.0038", "0.0045 ± 0.0039", "0.0056 ± 0.0064", "0.0084 ± 0.0154", "0.0165 ± 0.0661"},
    {"0.0283 ± 0.0295", "0.0221 ± 0.0226", "0.0194 ± 0.0170", "0.0189 ± 0.0227", "0.0224 ± 0.0327", "0.0494 ± 0.2030"},
    {"0.1433 ± 1.1200", "0.0371 ± 0.0502", "0.0308 ± 0.0330", "0.0290 ± 0.0406", "0.0399 ± 0.0577", "0.1045 ± 0.5258"}};
const std::vector<std::vector<std::string>> kPaperZeroth = {
    {"0.3387 ± 0.2420", "0.8862 ± 0.3499", "3.093 ± 1.394", "15.40 ± 15.93", "35.90 ± 29.11", "65.19 ± 138.6"},
    {"0.6291 ± 1.4107", "0.4401 ± 1.722", "15.575 ± 6.813", "32.09 ± 132.9", "150.6 ± 68.59", "39.17 ± 134.4"},
    {"0.3171 ± 2.039", "8.709 ± 33.90", "31.38 ± 139.1", "68.71 ± 292.6", "197.6 ± 488.8", "66.40 ± 348.7"},
    {"1.630 ± 11.76", "4.393 ± 17.18", "22.56 ± 132.8", "276.8 ± 372.7", "202.4 ± 291.1", "35.99 ± 181.0"},
    {"12.00 ± 26.20", "11.51 ± 66.89", "65.47 ± 118.9", "94.81 ± 93.27", "174.9 ± 515.3", "71.00 ± 288.0"}};
const std::vector<int> kHorizons = {1, 5, 10, 50, 100, 200};

struct Grid {
  std::vector<std::size_t> horizons;  // indices
  int updates = 100;
  int environments = 128;
  ReproduceContext context = {};
  int seeds = 5;
};

std::string piece_name(std::size_t horizon, std::size_t length) {
  return fmt::format("T-{}-length-{}", kHorizons[horizon], kLengths[length]);
}

// f is that of the state after a step here: before it, the one move of T = 1 would change nothing.
Configuration grid_configuration(const Grid& grid, std::size_t horizon, int index) {
  Configuration configuration = study_configuration(
      grid.context, "function",
      {fmt::format("horizon={}", kHorizons[horizon]), "window=1", "task.measured=after",
       fmt::format("environments={}", grid.environments), fmt::format("policy.initial_std={}", kNoise)});
  configuration.seed += static_cast<std::uint64_t>(index);
  return configuration;
}

Json measure_cell(const Grid& grid, std::size_t horizon, double length, ThreadPool& pool, const Tick& tick) {
  std::vector<double> first;
  std::vector<double> zeroth;
  std::vector<double> zeroth_elsewhere;
  for (int seed = 0; seed < grid.seeds; ++seed) {
    const AlgorithmContext context = context_of(grid_configuration(grid, horizon, seed), pool);
    const auto part = [&](int half) {
      return [&tick, &grid, seed, half](double share) { tick((seed + 0.5 * (half + share)) / grid.seeds); };
    };
    const UpdateErrors own = update_errors(context, UpdateSource::kFirstOrder, length, grid.updates, part(0));
    const UpdateErrors score = update_errors(context, UpdateSource::kZerothOrder, length, grid.updates, part(1));
    first.insert(first.end(), own.own.begin(), own.own.end());
    zeroth_elsewhere.insert(zeroth_elsewhere.end(), own.zeroth.begin(), own.zeroth.end());
    zeroth.insert(zeroth.end(), score.own.begin(), score.own.end());
  }
  Json json;
  json["first"] = json_of(first);
  json["zeroth"] = json_of(zeroth);
  json["zeroth_elsewhere"] = json_of(zeroth_elsewhere);
  return json;
}

struct ErrorTable {
  std::string key;
  std::string title;
  const std::vector<std::vector<std::string>>* paper;
};
const std::vector<ErrorTable>& error_tables() {
  static const std::vector<ErrorTable> tables = {
      {"first", "First-order gradients (FoBG), on their own updates", &kPaperFirst},
      {"zeroth", "Zeroth-order gradients (ZoBG), on their own updates", &kPaperZeroth},
      {"zeroth_elsewhere", "Zeroth-order gradients on the updates of the first-order ones", nullptr}};
  return tables;
}

std::string table_text(const ErrorTable& table, const Grid& grid, const PieceResults& results, Json& json) {
  std::vector<std::vector<std::string>> rows = {{"‖δ‖", ""}};
  for (const std::size_t horizon : grid.horizons) rows[0].push_back(fmt::format("T = {}", kHorizons[horizon]));
  for (std::size_t length = 0; length < kLengths.size(); ++length) {
    std::vector<std::string> means = {fmt::format("{}", kLengths[length]), "mean ± deviation"};
    std::vector<std::string> medians = {"", "median"};
    std::vector<std::string> paper = {"", "paper"};
    for (const std::size_t horizon : grid.horizons) {
      const Summary summary = summary_of(numbers_of(results.at(piece_name(horizon, length))[table.key]));
      means.push_back(plus_minus(summary));
      medians.push_back(short_number(summary.median));
      if (table.paper != nullptr) paper.push_back((*table.paper)[length][horizon]);
      Json cell = json_of(summary);
      cell["source"] = table.key;
      cell["length"] = kLengths[length];
      cell["horizon"] = kHorizons[horizon];
      json.push_back(cell);
    }
    rows.push_back(means);
    rows.push_back(medians);
    if (table.paper != nullptr) rows.push_back(paper);
  }
  return fmt::format("{}:\n\n{}\n", table.title, markdown_table(rows));
}

void add_picture(const Grid& grid, const PieceResults& results, ReproductionReport& report) {
  std::string script =
      svg_header("fobg", 960, 360) +
      "set multiplot layout 1,2\nset logscale xy\nset key below\nset bmargin 6\nset xlabel 'length of the update'\n"
      "set ylabel 'relative error: 10, 50, 90 % quantile'\nset format y '%g'\n";
  for (const char* key : {"first", "zeroth"}) {
    script += fmt::format("set title '{}'\nplot 1 with lines dt 2 lc rgb 'black' notitle",
                          std::string(key) == "first" ? "first order" : "zeroth order");
    std::size_t colour = 0;
    for (const std::size_t horizon : grid.horizons) {
      std::vector<std::vector<double>> rows;
      for (std::size_t length = 0; length < kLengths.size(); ++length) {
        const Summary s = summary_of(numbers_of(results.at(piece_name(horizon, length))[key]));
        rows.push_back({kLengths[length], s.median, s.low, s.high, s.mean, s.deviation});
      }
      const std::string file = fmt::format("fobg-{}-T{}.csv", key, kHorizons[horizon]);
      report.data.push_back({file, csv_of({"length", "median", "low", "high", "mean", "deviation"}, rows)});
      script += fmt::format(
          ", \\\n  '{}' skip 1 using 1:2:3:4 with yerrorlines lw 1.5 pt 7 ps 0.5 lc rgb '{}' title 'T = {}'", file,
          line_colours()[colour++], kHorizons[horizon]);
    }
    script += "\n";
  }
  report.pictures.push_back({"fobg", script + "unset multiplot\n"});
}

// CGPO with first-order gradients, with plain score functions, and with score functions at their best.
CompareRequest training_request(const std::string& task, bool quick) {
  CompareRequest request;
  request.task = task;
  request.algorithms =
      "cgpo,cgpo:gradient.source=zobg,cgpo:gradient.source=zobg:gradient.baseline=step:policy.initial_std=0.5";
  if (quick) request.sets = {"iterations=30", "environments=64"};
  return request;
}

void add_cells(const Grid& grid, const ReproduceContext& context, std::vector<Piece>& pieces) {
  for (const std::size_t horizon : grid.horizons) {
    const auto seconds = std::make_shared<double>(-1.0);
    for (std::size_t length = 0; length < kLengths.size(); ++length) {
      pieces.push_back({piece_name(horizon, length),
                        [grid, horizon, seconds, pool = context.pool] {
                          Grid small = grid;
                          small.seeds = 1;
                          small.updates = 2;
                          if (*seconds < 0.0) {
                            *seconds = seconds_of([&] { measure_cell(small, horizon, 1e-3, *pool, no_tick); }) *
                                       grid.seeds * grid.updates / 2.0;
                          }
                          return *seconds;
                        },
                        [grid, horizon, length, pool = context.pool](const Tick& tick) {
                          return measure_cell(grid, horizon, kLengths[length], *pool, tick);
                        }});
    }
  }
}

struct TaskTraining {
  std::string task;
  std::shared_ptr<CompareResult> result;
};

// folder: that of the reproduction.
ReproductionReport report_on(const Grid& grid, const std::vector<TaskTraining>& trainings,
                             const std::filesystem::path& folder, const PieceResults& results) {
  ReproductionReport report;
  report.results["errors"] = Json::array();
  report.text = fmt::format(
      "Relative error of the predicted cost on `function` over trajectories of T moves, {} updates × {} seeds, {} "
      "episodes each, σ = {}, common random numbers, double precision. Each kind of gradient updates a policy of its "
      "own along its sub-problem's step, brought to the length ‖δ‖. The height is that of the state after a move "
      "(`task.measured=after`): before it, the one move of T = 1 would change nothing. The limit is {} at every T, "
      "so policies begin below it up to T = 50 and above it from T = 100 on, where the first updates go down.\n\n",
      grid.updates, grid.seeds, grid.environments, kNoise, grid_configuration(grid, 0, 0).settings.limits.front());
  for (const ErrorTable& table : error_tables())
    report.text += table_text(table, grid, results, report.results["errors"]);
  add_picture(grid, results, report);
  report.text += "Trainings of CGPO with each (tables and curves of `cgpo compare`):\n\n";
  for (const auto& [task, result] : trainings) {
    report.results["trainings"][task] = results.at("training-" + task)["comparison"];
    report.text += fmt::format("{}:\n\n{}\n", task, training_table(*result));
    const std::string picture = fmt::format("training-{}/curves.svg", task);
    std::error_code ignored;  // without gnuplot there is none
    if (std::filesystem::exists(folder / picture, ignored)) report.text += fmt::format("![{}]({})\n\n", task, picture);
  }
  return report;
}

ReproductionPlan plan_fobg(const ReproduceContext& context) {
  Grid grid;
  grid.context = context;
  grid.seeds = context.seeds;
  grid.horizons = {0, 1, 2, 3, 4, 5};
  if (context.quick) {
    grid.horizons = {0, 2, 4};
    grid.updates = 20;
  }
  ReproductionPlan plan;
  plan.settings["updates"] = grid.updates;
  plan.settings["environments"] = grid.environments;
  plan.settings["noise"] = kNoise;
  add_cells(grid, context, plan.pieces);
  std::vector<TaskTraining> trainings;
  for (const std::string task : {"function", "cartpole"}) {
    trainings.push_back(
        {task, add_comparison(plan, context, "training-" + task, training_request(task, context.quick))});
  }
  plan.report = [grid, trainings, folder = context.folder](const PieceResults& results) {
    return report_on(grid, trainings, folder, results);
  };
  return plan;
}

}  // namespace

Reproduction fobg_reproduction() { return {"fobg", "first-order against zeroth-order gradients", plan_fobg}; }

}  // namespace cgpo
