// The page of a run.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/base/file.hpp"
#include "cgpo/view/report.hpp"

#include "bindings.hpp"
#include "threads.hpp"
#include "values.hpp"

namespace cgpo::python {
namespace {

std::string write_report(const std::vector<std::string>& folders, std::optional<std::filesystem::path> out,
                         int episodes, int replays, std::optional<std::int64_t> seed, bool allow_command,
                         const Settings& given, int threads) {
  const Consent consent{.commands = allow_command, .given = assignments_from(given)};
  const LongCall computing;
  const std::vector<ReportedRun> runs = read_runs(folders, consent);
  ThreadPool pool(threads_or_all(threads));
  const std::filesystem::path path = out ? *out : runs.front().paths.folder / "report.html";
  write_file_atomically(path,
                        page_from(page_data(runs, {.episodes = episodes, .replays = replays, .seed = seed}, pool)));
  return path.string();
}

}  // namespace

void bind_reports(nb::module_& module) {
  module.def("write_report", &write_report, nb::kw_only(), nb::arg("folders"), nb::arg("out").none(),
             nb::arg("episodes"), nb::arg("replays"), nb::arg("seed").none(), nb::arg("allow_command"),
             nb::arg("given"), nb::arg("threads"), "Writes the page about runs of one task; where it is.");
}

}  // namespace cgpo::python
