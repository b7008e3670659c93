// What several reproductions need: trainings with settings of their own, comparisons as pieces, numbers in JSON.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cgpo/campaign/compare.hpp"
#include "cgpo/config/configuration.hpp"
#include "cgpo/reproduce/reproduce.hpp"
#include "cgpo/studies/summary.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

// Of a task with these KEY=VALUE settings, and the first seed.
Configuration study_configuration(const ReproduceContext& context, const std::string& task,
                                  const std::vector<std::string>& sets, const std::string& algorithm = "cgpo",
                                  const std::string& preset = "best");

double seconds_of(const std::function<void()>& work);
// Of one iteration, after one that is not timed.
double seconds_of_iteration(const Configuration& configuration, int threads);

// One more piece of the plan: a comparison in its own folder below the reproduction's. What is returned is filled when
// the piece has been made.
std::shared_ptr<CompareResult> add_comparison(ReproductionPlan& plan, const ReproduceContext& context,
                                              const std::string& folder, CompareRequest request);
// Its table, and below it what did not finish.
std::string training_table(const CompareResult& result);

Json json_of(std::span<const double> values);        // what is not finite becomes null
std::vector<double> numbers_of(const Json& values);  // and NaN again
Json json_of(const Summary& summary);

// Three columns: the mean over seeds and the ends of its 95 % interval.
void append_band(std::vector<double>& row, const SeedMean& mean);

std::string short_number(double value);  // three digits; "—" if it is not finite
std::string plus_minus(const Summary& summary);

// A CSV with a line of headings; NaN as "nan".
std::string csv_of(const std::vector<std::string>& head, const std::vector<std::vector<double>>& rows);

// A picture of several panels, each with lines from CSV files. Columns count from 1; without low and high there is no
// band.
struct Line {
  std::string file;
  int x = 1;
  int y = 2;
  int low = 0;
  int high = 0;
  std::string title;
};
// With a band if there are seeds enough for one that says anything: that of two is many times as wide as the means.
Line curve(const std::string& file, int x, int mean, const std::string& title, int seeds);

struct Panel {
  std::string title;
  std::string x;
  std::string y;
  std::vector<Line> lines;
  std::optional<double> limit = {};  // a dashed line
  std::string settings = {};         // of gnuplot, for this panel only: "set logscale y"
  std::string undo = {};
};
std::string panels_script(const std::string& name, const std::vector<Panel>& panels, int columns);
// Return or first cost of a comparison's algorithms over their steps, from the curves that it has left in this folder
// below the picture's. shown: only these labels; empty: all.
Panel comparison_panel(const std::string& folder, const CompareResult& result, bool cost,
                       const std::vector<std::string>& shown = {});

// Returns, costs and radii of an algorithm's runs over its iterations, mean and 95 % interval over the seeds: steps,
// then three columns each of the return, the first cost, the radius.
std::string training_csv(const ComparedAlgorithm& algorithm);
inline constexpr int kReturnColumn = 2;
inline constexpr int kCostColumn = 5;
inline constexpr int kRadiusColumn = 8;

}  // namespace cgpo
