#include "cgpo/run/reproduce_parts.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>
#include <map>

#include "cgpo/base/error.hpp"

namespace cgpo {

Configuration study_configuration(const std::string& task, const std::vector<std::string>& sets,
                                  const std::string& algorithm, const std::string& preset) {
  ConfigurationRequest request;
  request.task = task;
  request.algorithm = algorithm;
  request.preset = preset;
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
  return resolve_configuration(request);
}

AlgorithmContext context_of(const Configuration& configuration, ThreadPool& pool) {
  return {make_task(configuration), configuration.settings, configuration.seed, &pool};
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double seconds_of_iteration(const Configuration& configuration, int threads) {
  ThreadPool pool(threads);
  const std::unique_ptr<Algorithm> algorithm =
      find_algorithm(configuration.algorithm).make(context_of(configuration, pool));
  algorithm->iterate();
  return seconds_of([&] { algorithm->iterate(); });
}

ComparisonPiece comparison_piece(const ReproduceContext& context, const std::string& folder, CompareRequest request) {
  request.out = (context.folder / folder).string();
  request.seeds = context.seeds;
  request.jobs = context.jobs;
  request.threads = std::max(1, context.threads / context.jobs);
  auto result = std::make_shared<CompareResult>();
  Piece piece;
  piece.name = folder;
  piece.kept = false;
  piece.seconds = [request] {
    std::map<std::string, double> measured;
    double seconds = 0.0;
    for (const PendingRun& run : pending_runs(request)) {
      if (!measured.contains(run.label))
        measured[run.label] = seconds_of_iteration(run.configuration, request.threads.value_or(1));
      seconds += measured[run.label] * run.iterations;
    }
    return seconds / request.jobs;
  };
  piece.make = [request, result](const Tick&) {
    *result = run_comparison(request);
    if (result->stopped != 0) throw Stopped{result->stopped};
    double seconds = 0.0;
    for (const ComparedAlgorithm& algorithm : result->comparison.algorithms) {
      for (const ComparedRun& run : algorithm.runs) seconds += run.log.empty() ? 0.0 : run.log.back().seconds;
    }
    Json json;
    json["training_seconds"] = seconds;
    json["failed"] = result->failed;
    json["comparison"] = Json::parse(result->json);
    return json;
  };
  return {piece, result};
}

Json json_of(std::span<const double> values) {
  Json result = Json::array();
  for (const double value : values) result.push_back(value);  // written as null if it is not finite
  return result;
}

std::vector<double> numbers_of(const Json& values) {
  std::vector<double> result;
  for (const Json& value : values)
    result.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return result;
}

Json json_of(const Summary& summary) {
  Json json;
  json["count"] = summary.count;
  json["mean"] = summary.mean;
  json["deviation"] = summary.deviation;
  json["median"] = summary.median;
  json["low"] = summary.low;
  json["high"] = summary.high;
  return json;
}

std::string short_number(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "—"; }

std::string plus_minus(const Summary& summary) {
  if (summary.count == 0) return "—";
  return fmt::format("{} ± {}", short_number(summary.mean), short_number(summary.deviation));
}

std::string csv_of(const std::vector<std::string>& head, const std::vector<std::vector<double>>& rows) {
  std::string text = fmt::format("{}\n", fmt::join(head, ","));
  for (const std::vector<double>& row : rows) {
    std::vector<std::string> cells;
    for (const double value : row) cells.push_back(std::isfinite(value) ? fmt::format("{}", value) : "nan");
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string svg_header(const std::string& name, int width, int height) {
  return fmt::format(
      "# `gnuplot {0}.gnuplot`, in this folder, draws {0}.svg.\n"
      "set datafile separator ','\nset datafile missing 'nan'\n"
      "set terminal svg noenhanced size {1},{2} font 'sans,12' background 'white'\nset output '{0}.svg'\n"
      "set grid lc rgb '#dddddd'\nset key samplen 2\n",
      name, width, height);
}

}  // namespace cgpo
