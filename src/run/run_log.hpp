// The log of a run: one JSON object a line, one line an iteration.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {

struct LogEntry {
  IterationReport report;
  double seconds = 0.0;  // of training so far, over all sessions of the run; the only number here that needs a clock
};

// What the algorithm does not have is left out. Numbers that are not finite become null when the object is written.
Json to_json(const LogEntry& entry);
// Throws Json::exception if it is not such an object. environments: of the run, as its configuration has it; without it
// a line with several diverged episodes is taken for one with too many. What older versions wrote as 0 because it was
// not known becomes NaN.
LogEntry from_json(const Json& line, int environments = 0);

// The entry that a line of the log holds; none, if it is damaged.
std::optional<LogEntry> parse_log_line(std::string_view line, int environments = 0);

// All entries of a log, in the order of their iterations; lines that are torn, damaged or none of ours are left out, so
// that iterations may be missing. Of no log, none.
std::vector<LogEntry> read_log(const std::filesystem::path& path, int environments = 0);

// Where the time of an iteration went.
struct TimingEntry {
  int iteration = 0;
  double seconds = 0.0;          // of the iteration itself
  double seconds_writing = 0.0;  // log and checkpoint of the iteration before
  double steps_per_second = 0.0;
  // Of the iteration, in an engine outside, all threads together; none: there is no such engine.
  std::optional<double> seconds_outside = {};
  std::string stage = {};  // of a run in stages
};
Json to_json(const TimingEntry& entry);

// Appends whole lines to a file.
class LineFile {
 public:
  explicit LineFile(const std::filesystem::path& path) : file_(path) {}  // throws UserError, as append does
  void append(const Json& line) { file_.append(line.dump() + "\n"); }    // in one go; it is on the disk then

 private:
  AppendedFile file_;
};

// The lines of the iterations below `iterations` in a file of lines: those that are whole and come in order. What else
// is there is of no use: iterations that the checkpoint does not know of, a line that was torn by a crash, or damage.
struct KeptLines {
  int count = 0;
  std::string text;  // the lines themselves
  std::optional<Json> last;
  bool damaged = false;  // some are missing, or there is something else among them
};
enum class LineKind { kLog, kTiming };  // of the second only the number of its iteration is read
KeptLines find_lines(const std::filesystem::path& path, int iterations, LineKind kind);  // of no file, none

// Cuts the file back to them. It is replaced in one go, and only if there is something to cut; if it is damaged, it is
// kept beside as NAME.damaged-N.
KeptLines cut_lines(const std::filesystem::path& path, int iterations, LineKind kind);

// A name beside `path` that is free: NAME.damaged-1, or the next number.
std::filesystem::path damaged_name(const std::filesystem::path& path);

}  // namespace cgpo
