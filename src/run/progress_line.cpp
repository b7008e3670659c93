#include "cgpo/run/progress_line.hpp"

#include <cmath>
#include <fmt/format.h>

#include "cgpo/base/text.hpp"

namespace cgpo {

std::string progress_line(const LogEntry& entry, int iterations, double steps_per_second, double seconds_left) {
  const IterationReport& report = entry.report;
  std::string text = fmt::format("{:>{}}/{}  return {}", report.iteration + 1, fmt::formatted_size("{}", iterations),
                                 iterations, number_or_unknown(report.return_mean));
  if (is_preparation(report)) text.insert(text.find("  return"), "  our engine");
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    text += fmt::format("  cost {} {:<2} {:.5g}", number_or_unknown(report.costs[i]), limit_sign(report, i),
                        report.limits[i]);
  }
  if (report.radius) text += fmt::format("  radius {:.2e}", *report.radius);
  if (!report.update_case.empty()) text += fmt::format("  {}", report.update_case);
  if (report.world && !std::isnan(report.world->state_error)) {
    text += fmt::format("  model error {:.2g}, {:.2g} after a window", report.world->state_error,
                        report.world->window_error);
  }
  if (report.twin_error && !std::isnan(*report.twin_error))
    text += fmt::format("  twin error {:.2g}", *report.twin_error);
  text += fmt::format("  {} steps/s  {} left", format_rate(steps_per_second), format_duration(seconds_left));
  if (report.diverged > 0) text += fmt::format("  {} of {} diverged", report.diverged, report.episodes);
  return text;
}

}  // namespace cgpo
