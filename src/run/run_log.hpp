// The log of a run: one JSON object a line, one line an iteration.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/updates/report.hpp"

namespace cgpo {

struct LogEntry {
  IterationReport report;
  double seconds = 0.0;  // of training so far, over all sessions of the run; the only number here that needs a clock
};

// What the algorithm does not have is left out. Numbers that are not finite become null when the object is written.
Json to_json(const LogEntry& entry);
// environments: of the run, as its configuration has it; without it a line with several diverged episodes is taken for
// one with too many. What older versions wrote as 0 because it was not known becomes NaN.
LogEntry from_json(const Json& line, int environments = 0);

// All entries of a log, up to a line that is torn or is none of ours; of no log, none.
std::vector<LogEntry> read_log(const std::filesystem::path& path, int environments = 0);

// Where the time of an iteration went.
struct TimingEntry {
  int iteration = 0;
  double seconds = 0.0;          // of the iteration itself
  double seconds_writing = 0.0;  // log and checkpoint of the iteration before
  double steps_per_second = 0.0;
};
Json to_json(const TimingEntry& entry);

// Appends whole lines to a file.
class LineFile {
 public:
  explicit LineFile(const std::filesystem::path& path);  // throws UserError
  void append(const Json& line);                         // it has reached the disk when this returns

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Closer> file_;
};

// The lines of the iterations below `iterations` in a file of lines. What follows them is of no use: iterations that
// the checkpoint does not know of, or a line that was torn by a crash.
struct KeptLines {
  int count = 0;
  std::size_t bytes = 0;
  std::optional<Json> last;
};
KeptLines find_lines(const std::filesystem::path& path, int iterations);

// Cuts the file back to them. It is replaced in one go, and only if there is something to cut.
KeptLines cut_lines(const std::filesystem::path& path, int iterations);

}  // namespace cgpo
