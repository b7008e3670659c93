#include "cgpo/run/report_fields.hpp"

#include <limits>

#include "cgpo/base/numbers.hpp"

namespace cgpo {
namespace {

double number(double value, std::size_t) { return value; }
double number(int value, std::size_t) { return value; }
double number(std::int64_t value, std::size_t) { return static_cast<double>(value); }
double number(const std::optional<double>& value, std::size_t) { return value.value_or(kNan); }
double number(const std::vector<double>& values, std::size_t index) {
  return index < values.size() ? values[index] : kNan;
}
double number(const std::string&, std::size_t) { return kNan; }
double number(const NamedNumbers&, std::size_t) { return kNan; }
double number(const std::optional<WorldReport>&, std::size_t) { return kNan; }

std::vector<ReportField> make_fields() {
  using R = IterationReport;
  return {
      {"iteration", &R::iteration},
      {"steps", &R::steps},
      {"seconds", &LogEntry::seconds},
      {"return", &R::return_mean,
       FieldChart{.place = 1,
                  .id = "return",
                  .title = "Return",
                  .error = &R::return_se,
                  .label = "with noise",
                  .more = {{"return-deployed", "deployed", &R::return_deployed}}}},
      {"return_se", &R::return_se},
      {"return_paper", &R::return_paper},
      {.name = "costs",
       .member = &R::costs,
       .chart = FieldChart{.place = 2,
                           .id = "cost",
                           .title = "Cost",
                           .lines = Lines::kChartEachCost,
                           .error = &R::costs_se,
                           .label = "with noise",
                           .more = {{"cost-filtered", "filtered", &R::costs_filtered, &R::costs_filtered_se},
                                    {"cost-deployed", "deployed", &R::costs_deployed, &R::costs_deployed_se}}},
       .always = true},
      {.name = "costs_se", .member = &R::costs_se, .always = true},
      {.name = "limits", .member = &R::limits, .always = true, .null_is_infinite = true},
      {.name = "episodes",
       .member = &R::episodes,
       .chart = FieldChart{.place = 12, .id = "episodes", .title = "Episodes of an iteration", .only_if_varied = true},
       .newer = true},
      {"costs_filtered", &R::costs_filtered},
      {"costs_filtered_se", &R::costs_filtered_se},
      {"return_deployed", &R::return_deployed},
      {"costs_deployed", &R::costs_deployed},
      {"costs_deployed_se", &R::costs_deployed_se},
      {"noise", &R::noise,
       FieldChart{.place = 13,
                  .id = "noise",
                  .title = "Noise of the actions (σ)",
                  .logarithmic = true,
                  .only_if_varied = true}},
      {"costs_low", &R::costs_low},
      {"costs_high", &R::costs_high},
      {"violation_rates", &R::violation_rates,
       FieldChart{.place = 3,
                  .id = "violation",
                  .title = "Share of episodes over the limit",
                  .lines = Lines::kEachCost,
                  .percent = true}},
      {"episode_length", &R::episode_length, FieldChart{.place = 8, .id = "length", .title = "Episode length (steps)"}},
      {"contact_share", &R::contact_share,
       FieldChart{.place = 10, .id = "contact", .title = "Share of steps with contact", .percent = true}},
      {"diverged", &R::diverged,
       FieldChart{.place = 11, .id = "diverged", .title = "Diverged episodes", .only_if_any = true}},
      {"case", &R::update_case},
      {"radius", &R::radius,
       FieldChart{.place = 4,
                  .id = "radius",
                  .title = "Radius and case of the update",
                  .logarithmic = true,
                  .shows_case = true}},
      {"rho", &R::rho},
      {"zeta", &R::zeta},
      {"change_predicted", &R::change_predicted},
      {"change_realised", &R::change_realised},
      {"change_se", &R::change_se},
      {"kl", &R::kl, FieldChart{.place = 9, .id = "kl", .title = "KL divergence of the update", .logarithmic = true}},
      {"lambda", &R::lambda},
      {"nu", &R::nu},
      {"gradient_norms", &R::gradient_norms,
       FieldChart{
           .place = 5, .id = "gradient", .title = "Gradient norms", .lines = Lines::kEachSignal, .logarithmic = true}},
      {"gradient_errors", &R::gradient_errors},
      {"gradient_signals", &R::gradient_signals},
      {"gradient_mixture", &R::gradient_mixture},
      {"critic_losses", &R::critic_losses,
       FieldChart{.place = 6,
                  .id = "critic",
                  .title = "Critic error (mean square)",
                  .lines = Lines::kEachSignal,
                  .logarithmic = true}},
      {"critic_explained", &R::critic_explained,
       FieldChart{.place = 7,
                  .id = "explained",
                  .title = "Share of variance the critics explain",
                  .lines = Lines::kEachSignal}},
      {"critic_cosines", &R::critic_cosines},
      {"world", &R::world},
      {"twin_error", &R::twin_error,
       FieldChart{.place = 14,
                  .id = "twin",
                  .title = "Error of the twin (share of the change)",
                  .label = "of a step",
                  .more = {{"twin-window", "of a window", &R::twin_window_error}},
                  .logarithmic = true}},
      {"twin_window_error", &R::twin_window_error},
      {"twin_parameters", &R::twin_parameters},
      {"stage", &R::stage},
      {"steps_own", &R::steps_own},
      {"steps_task", &R::steps_task},
      {"warning", &R::warning},
  };
}

}  // namespace

const std::vector<ReportField>& report_fields() {
  static const std::vector<ReportField> fields = make_fields();
  return fields;
}

double number_at(const LogEntry& entry, const ReportMember& member, std::size_t index) {
  return std::visit(
      [&](auto pointer) {
        if constexpr (std::is_same_v<decltype(pointer), double LogEntry::*>) {
          return entry.*pointer;
        } else {
          return number(entry.report.*pointer, index);
        }
      },
      member);
}

}  // namespace cgpo
