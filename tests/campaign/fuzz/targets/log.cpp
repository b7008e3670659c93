// A run's log: single lines, the reader of all of them, and the search for those that a checkpoint knows of.
#include "cgpo/run/run_log.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  static const fuzz::ScratchFolder folder;
  const std::filesystem::path path = folder.file("log.jsonl", input);
  const auto entries = fuzz::accepted([&] { return read_log(path); });
  fuzz::require(entries.has_value(), "a log is read as far as it is good, and never refused");
  for (const LogEntry& entry : *entries) {
    if (!(std::abs(entry.seconds) < 1e9)) continue;  // rounded to milliseconds, which larger ones do not have
    const std::string line = to_json(entry).dump();
    const std::string again = to_json(from_json(Json::parse(line))).dump();
    fuzz::require(line == again, "a line that was written reads back as the same");
  }
  for (const int iterations : {0, 1, 3, 1000}) {
    const auto kept = fuzz::accepted([&] { return find_lines(path, iterations, LineKind::kLog); });
    fuzz::require(kept && kept->text.size() <= input.size() && kept->count <= iterations, "lines are of the file");
    fuzz::require(kept->text.empty() || kept->text.back() == '\n', "lines are kept whole");
  }
}
