// A trained policy: it acts, it is evaluated, it becomes a file for other programs.
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cgpo/export/export.hpp"
#include "cgpo/judge/explain.hpp"

#include "bindings.hpp"
#include "threads.hpp"
#include "values.hpp"

namespace cgpo::python {
namespace {

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumpyRows = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

TrainedPolicy load(const std::filesystem::path& folder, const std::string& checkpoint, bool allow_command,
                   const Settings& given) {
  if (checkpoint != "last" && checkpoint != "best") {
    throw UserError("checkpoint must be last or best, not '{}'", checkpoint);
  }
  const Consent consent{.commands = allow_command, .given = assignments_from(given)};
  const nb::gil_scoped_release free;
  return TrainedPolicy::load(folder, checkpoint == "best" ? SavedPolicy::kBest : SavedPolicy::kLast, consent);
}

NumpyRows act(const TrainedPolicy& policy, const Rows& observations, std::optional<std::int64_t> seed,
              std::uint32_t step) {
  const std::size_t count = observations.shape(0);
  const auto actions = static_cast<std::size_t>(policy.spec().actions);
  auto result = std::make_unique<std::vector<float>>();
  {
    const nb::gil_scoped_release free;
    std::optional<ActionNoise> noise;
    if (seed) noise = ActionNoise{.seed = static_cast<std::uint64_t>(*seed), .step = step};
    *result = policy.act({observations.data(), observations.size()}, noise);
  }
  std::vector<float>* const numbers = result.release();
  const nb::capsule owner(numbers, [](void* kept) noexcept { delete static_cast<std::vector<float>*>(kept); });
  return NumpyRows(numbers->data(), {count, actions}, owner);
}

std::string evaluate_to_json(const TrainedPolicy& policy, int episodes, bool deterministic,
                             std::optional<std::int64_t> seed, const std::string& engine, int substeps,
                             const Settings& settings, bool explain_it, int threads) {
  const EvaluationOptions options{.episodes = episodes,
                                  .deterministic = deterministic,
                                  .seed = seed,
                                  .engine = engine,
                                  .substeps = substeps,
                                  .task_sets = assignments_from(settings),
                                  .threads = threads_or_all(threads)};
  const LongCall computing;
  const EvaluationReport report = evaluate(policy, options);
  Json result = evaluation_json(policy, options, report);
  if (explain_it) {
    const Explanation explanation = explain(policy, options, report);
    result["explanation"] = to_json(explanation, find_causes(explanation));
  }
  return json_text(result);
}

std::string export_to_json(const TrainedPolicy& policy, const std::string& to, const std::filesystem::path& out,
                           bool force, int episodes, bool policy_action, const std::string& name, int threads) {
  const ExportOptions options{.to = to,
                              .out = out,
                              .force = force,
                              .episodes = episodes,
                              .policy_action = policy_action,
                              .name = name,
                              .threads = threads_or_all(threads)};
  const LongCall computing;
  return json_text(to_json(export_policy(policy, options)));
}

}  // namespace

void bind_policies(nb::module_& module) {
  nb::class_<TrainedPolicy>(module, "Policy", "A policy that a run left behind.")
      .def_static("load", &load, nb::arg("folder"), nb::arg("checkpoint"), nb::arg("allow_command"), nb::arg("given"))
      .def_prop_ro("observations", [](const TrainedPolicy& policy) { return policy.spec().observations; })
      .def_prop_ro("actions", [](const TrainedPolicy& policy) { return policy.spec().actions; })
      .def_prop_ro("path", [](const TrainedPolicy& policy) { return policy.path().string(); })
      .def("act", &act, nb::arg("observations"), nb::arg("seed").none(), nb::arg("step"),
           "Actions for rows of observations; seed None: without noise.")
      .def("evaluate_json", &evaluate_to_json, nb::kw_only(), nb::arg("episodes"), nb::arg("deterministic"),
           nb::arg("seed").none(), nb::arg("engine"), nb::arg("substeps"), nb::arg("settings"), nb::arg("explain"),
           nb::arg("threads"), "What `cgpo eval --json` prints.")
      .def("export_json", &export_to_json, nb::kw_only(), nb::arg("to"), nb::arg("out"), nb::arg("force"),
           nb::arg("episodes"), nb::arg("policy_action"), nb::arg("name"), nb::arg("threads"),
           "Writes the deployed policy as a file; what `cgpo export --json` prints.");
}

}  // namespace cgpo::python
