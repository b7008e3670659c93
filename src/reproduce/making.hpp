// Makes a reproduction in a folder of its own: looks at what is there, says how long the rest will take, makes it, and
// writes the report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cgpo/base/json.hpp"
#include "cgpo/base/listener.hpp"
#include "cgpo/base/thread_pool.hpp"
#include "cgpo/reproduce/reproduce.hpp"

namespace cgpo {

struct ReproduceOptions {
  bool quick = false;                           // a reduced version, in minutes
  std::optional<int> seeds = {};                // 5, or 2 if quick
  std::optional<std::int64_t> first_seed = {};  // kFirstPublishedSeed
  std::optional<std::string> form = {};         // the reproduction's first
  int threads = 1;
  int jobs = 1;  // trainings at a time
};

// A reproduction with all that is known before any of its work is done.
struct PreparedReproduction {
  const Reproduction* reproduction = nullptr;
  ReproduceContext context;
  ReproduceOptions options;
  ReproductionPlan plan;
  Json marker;                                 // what its folder says of itself
  std::map<std::string, Json> kept = {};       // results that are there already, with the seconds they took
  std::map<std::string, double> seconds = {};  // of the others, once they have been estimated
};

// Reads only. The reproduction and the pool must outlive what is returned. Throws UserError if the folder is not its
// own.
PreparedReproduction prepare_reproduction(const Reproduction& reproduction, const ReproduceOptions& options,
                                          const std::filesystem::path& folder, ThreadPool& pool,
                                          const Listener& listener = {});

// Of all that is missing, from measured pieces of the work. Throws Stopped.
double estimate_seconds(PreparedReproduction& prepared);

struct ReproduceOutcome {
  bool failed = false;  // a training did
  std::string text;     // Markdown
  Json json;
};
// Throws UserError, and Stopped.
ReproduceOutcome make_reproduction(PreparedReproduction& prepared);

}  // namespace cgpo
