// Learning curves as a page draws them: the columns of one log, or the mean over the logs of several seeds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgpo/run/run_log.hpp"

namespace cgpo {

// {"iteration", "steps", "seconds": […], "prepares", "case", "diverged": […], "series": {NAME: {"mean": […], "half":
// […]}}} from line `from` on.
//
// NAME is that of a chart (run/report_fields.hpp), with /C or /S for each cost or signal: return, cost/C, gradient/S.
// What no line has is left out; missing numbers are null.
//
// Of one log, half is 1.96 standard errors where the log has them. Of several it is half of the 95 % interval of the
// mean over the seeds (Student's t), line by line over the logs that have that line; steps and seconds are means, too.
// Cases are those of a single log. "diverged" says in words why a line cannot be judged; empty: it can.
Json curves_json(std::span<const std::vector<LogEntry>> logs, const std::vector<std::string>& costs,
                 std::size_t from = 0);

// The charts that a page makes of them, in their order: [{"id", "title", "lines", …}], as FieldChart has them.
Json charts_json();

// A number for a page: seven digits, or null.
Json page_number(double value);
Json page_numbers(std::span<const double> values);

}  // namespace cgpo
