// Beyond the paper: norm, variance and signal-to-noise ratio of every kind of gradient against the steps it looks
// through, and what stiffer contact does to them.
#include <cmath>
#include <fmt/format.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/table.hpp"
#include "cgpo/reproduce/parts.hpp"
#include "cgpo/studies/gradient_noise.hpp"
#include "cgpo/studies/stages.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCost = 1;  // CartPole's reward has no derivative
const std::vector<int> kWindows = {1, 2, 5, 10, 20, 50, 100};

struct Source {
  NoiseSource source;
  std::string name;
};
const std::vector<Source> kSources = {{NoiseSource::kShac, "shac"},
                                      {NoiseSource::kBptt, "bptt"},
                                      {NoiseSource::kZobg, "zobg"},
                                      {NoiseSource::kZobgBaseline, "zobg-baseline"}};

struct NoiseStudy {
  std::string name;
  Configuration configuration;
  int iterations = 25;  // of training before
  int episodes = 256;

  fs::path checkpoint(const ReproduceContext& context) const { return context.folder / (name + ".safetensors"); }
  std::string piece(int window) const { return fmt::format("{}-window-{}", name, window); }
};

std::vector<std::string> contact(int stiffness, int damping, double width) {
  return {fmt::format("task.contact_stiffness={}", stiffness), fmt::format("task.contact_damping={}", damping),
          fmt::format("task.contact_width={}", width)};
}

std::vector<NoiseStudy> studies_of(const ReproduceContext& context) {
  std::vector<std::pair<std::string, std::vector<std::string>>> names = {
      {"function", {}}, {"cartpole", {}}, {"reacher", {}}, {"halfcheetah", {}}, {"ant", {}}};
  const std::vector<std::pair<std::string, std::vector<std::string>>> stiff = {
      {"halfcheetah-stiffer", contact(50'000, 500, 0.005)},
      {"halfcheetah-stiffest", contact(200'000, 1000, 0.0025)},
      {"ant-stiffer", contact(4000, 40, 0.01)},
      {"ant-stiffest", contact(16'000, 80, 0.005)}};
  names.insert(names.end(), stiff.begin(), stiff.end());
  std::vector<NoiseStudy> studies;
  for (const auto& [name, sets] : names) {
    NoiseStudy study{name, study_configuration(context, name.substr(0, name.find('-')), sets)};
    study.configuration.settings.environments = 128;
    if (context.quick) {
      study.configuration.settings.environments = 64;
      study.iterations = 8;
      study.episodes = 64;
    }
    studies.push_back(study);
  }
  return studies;
}

Json measure_window(const NoiseStudy& study, const Tensors& checkpoint, int window, ThreadPool& pool,
                    const Tick& tick) {
  Json json;
  const AlgorithmContext context = context_of(study.configuration, pool);
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const GradientNoise noise = gradient_noise(context, checkpoint, kSources[i].source, window, study.episodes, kCost);
    json[kSources[i].name] = {
        {"norm", noise.norm}, {"variance", noise.variance}, {"signal", noise.signal}, {"diverged", noise.diverged}};
    tick((static_cast<double>(i) + 1.0) / static_cast<double>(kSources.size()));
  }
  return json;
}

void add_pieces(const NoiseStudy& study, const ReproduceContext& context, std::vector<Piece>& pieces) {
  pieces.push_back(
      {study.name + "-training",
       [study, context] { return seconds_of_iteration(study.configuration, context.threads) * study.iterations; },
       [study, context](const Tick& tick) {
         const std::vector<Tensors> stages = training_stages(context_of(study.configuration, *context.pool),
                                                             find_algorithm("cgpo"), {study.iterations}, tick);
         write_tensors(study.checkpoint(context), stages.front());
         return Json(study.iterations);
       }});
  const auto unit = std::make_shared<double>(-1.0);  // seconds of windows of 10
  for (const int window : kWindows) {
    pieces.push_back(
        {study.piece(window),
         [study, context, window, unit] {
           if (*unit < 0.0) {
             const Tensors start =
                 training_stages(context_of(study.configuration, *context.pool), find_algorithm("cgpo"), {0}, no_tick)
                     .front();
             *unit = seconds_of([&] { measure_window(study, start, 10, *context.pool, no_tick); });
           }
           // Half of it is the sweep of whole episodes.
           return *unit * (0.8 + 0.2 * window / 10.0);
         },
         [study, context, window](const Tick& tick) {
           return measure_window(study, read_tensors(study.checkpoint(context)), window, *context.pool, tick);
         }});
  }
}

ReproductionReport report_on(const std::vector<NoiseStudy>& studies, const PieceResults& results) {
  ReproductionReport report;
  std::vector<std::vector<std::string>> rows = {{"task", "gradient", "of"}};
  for (const int window : kWindows) rows[0].push_back(fmt::format("{}", window));
  std::vector<Panel> signals;
  std::vector<Panel> variances;
  for (const NoiseStudy& study : studies) {
    Panel signal{study.name, "steps", "signal / noise", {}, 1.0, "set logscale xy; set format y '%g'"};
    Panel variance{study.name, "steps", "variance of an episode", {}, {}, "set logscale xy; set format y '%g'"};
    for (const Source& source : kSources) {
      const std::string file = fmt::format("gradients-{}-{}.csv", study.name, source.name);
      std::vector<std::vector<double>> data;
      std::vector<std::string> norms = {study.name, source.name, "norm"};
      std::vector<std::string> spreads = {"", "", "standard deviation"};
      std::vector<std::string> ratios = {"", "", "signal / noise"};
      for (const int window : kWindows) {
        const Json& cell = results.at(study.piece(window))[source.name];
        const std::vector<double> numbers = numbers_of(Json::array({cell["norm"], cell["variance"], cell["signal"]}));
        norms.push_back(short_number(numbers[0]));
        spreads.push_back(short_number(std::sqrt(numbers[1])));
        ratios.push_back(short_number(numbers[2]));
        data.push_back({static_cast<double>(window), numbers[0], numbers[1], numbers[2]});
        Json json = cell;
        json["task"] = study.name;
        json["gradient"] = source.name;
        json["window"] = window;
        report.results.push_back(json);
      }
      report.data.push_back({file, csv_of({"window", "norm", "variance", "signal"}, data)});
      signal.lines.push_back({file, 1, 4, 0, 0, source.name});
      variance.lines.push_back({file, 1, 3, 0, 0, source.name});
      rows.insert(rows.end(), {norms, spreads, ratios});
    }
    signals.push_back(signal);
    variances.push_back(variance);
  }
  report.text = fmt::format(
      "Gradients of the first cost, {} episodes, double precision, by the number of steps that they look through: shac "
      "cuts whole episodes into windows of so many steps, closed by critics; bptt and zobg (without and with a "
      "baseline "
      "for each step) have episodes of so many steps from the start. Standard deviation is that of one episode's "
      "gradient; signal / noise is the mean's length without noise over its standard error (0: all noise). The "
      "policies "
      "are those after {} iterations of training in the same contact, one training each, seed {}. Stiffer and stiffest "
      "contact: halfcheetah 50 and "
      "200 kN/m (chosen 25), ant 4 and 16 kN/m (chosen 1), with half and a quarter of the width.\n\n{}",
      studies.front().episodes, studies.front().iterations, studies.front().configuration.seed, markdown_table(rows));
  report.pictures.push_back({"gradients", panels_script("gradients", signals, 3)});
  report.pictures.push_back({"gradients-variance", panels_script("gradients-variance", variances, 3)});
  return report;
}

ReproductionPlan plan_gradients(const ReproduceContext& context) {
  const std::vector<NoiseStudy> studies = studies_of(context);
  ReproductionPlan plan;
  for (const NoiseStudy& study : studies) {
    plan.settings[study.name]["episodes"] = study.episodes;
    plan.settings[study.name]["iterations"] = study.iterations;
    add_pieces(study, context, plan.pieces);
  }
  plan.seeded = false;
  plan.report = [studies](const PieceResults& results) { return report_on(studies, results); };
  return plan;
}

}  // namespace

Reproduction gradients_reproduction() {
  return {"gradients", "signal and noise of gradients against the steps they look through", plan_gradients};
}

}  // namespace cgpo
