// The fields of an iteration's report, in one table: log, curves and page work from it. A new field is a member of
// IterationReport and a row here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cgpo/run/run_log.hpp"

namespace cgpo {

// Where a field is kept. `seconds` is the one that an algorithm does not report.
using ReportMember = std::variant<int IterationReport::*, std::int64_t IterationReport::*, double IterationReport::*,
                                  std::string IterationReport::*, std::vector<double> IterationReport::*,
                                  std::optional<double> IterationReport::*, NamedNumbers IterationReport::*,
                                  std::optional<WorldReport> IterationReport::*, double LogEntry::*>;

enum class Lines {
  kOne,
  kEachCost,       // of one chart
  kEachSignal,     // of one chart: the return, then each cost
  kChartEachCost,  // a chart of its own for each cost, with its limits
};

// A further line of a chart, or of each cost's: the same quantity, known in another way. Logs without it have none.
struct ChartLine {
  std::string id;  // of its curve, or ID/COST of each
  std::string label;
  ReportMember member;
  std::optional<ReportMember> error = {};
};

// How a page draws the field.
struct FieldChart {
  int place = 0;      // the charts' order, which is not that of the log
  std::string id;     // of its curve, or ID/COST and ID/return of each
  std::string title;  // with the unit
  Lines lines = Lines::kOne;
  std::optional<ReportMember> error = {};  // the field with its standard error
  std::string label = {};                  // of its line, if there are more
  std::vector<ChartLine> more = {};
  bool logarithmic = false;
  bool percent = false;
  bool shows_case = false;      // points are marked by the case of the update
  bool only_if_any = false;     // no chart while all is 0
  bool only_if_varied = false;  // nor while all is the same
};

struct ReportField {
  std::string name;  // in the log
  ReportMember member;
  std::optional<FieldChart> chart = {};  // none: no page shows it
  bool always = false;                   // a list is written even if it is empty
  bool null_is_infinite = false;         // of a list: the only number of it that is written as null
  bool newer = false;                    // of a number: logs of earlier versions lack it, and it stays 0
};

const std::vector<ReportField>& report_fields();  // in the order of a log line

// The field as a number; of a list, entry `index`. NaN where there is none.
double number_at(const LogEntry& entry, const ReportMember& member, std::size_t index = 0);

}  // namespace cgpo
