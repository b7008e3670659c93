// The tables and figures of the paper, and some beyond it.
//
// A reproduction is a list of pieces and a report on their results. Pieces are small: each one's result is kept in the
// folder as soon as it is there, so a command that was stopped goes on with the next piece. To add one, write a
// function that returns a Reproduction, in a file of its own, and name it in reproductions().
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/base/listener.hpp"
#include "cgpo/base/thread_pool.hpp"
#include "cgpo/studies/tick.hpp"

namespace cgpo {

// Seeds below are for choosing settings; no published number comes from them.
inline constexpr std::uint64_t kFirstPublishedSeed = 1000;

// What a reproduction is told.
struct ReproduceContext {
  bool quick = false;
  int seeds = 5;  // first_seed, first_seed + 1, …
  std::uint64_t first_seed = kFirstPublishedSeed;
  std::string form = {};  // one of the reproduction's, empty if it has none
  int threads = 1;
  int jobs = 1;
  std::filesystem::path folder;
  ThreadPool* pool = nullptr;
  Listener listener = {};
};

struct Piece {
  std::string name;                 // names its file, too
  std::function<double()> seconds;  // that it will take, from a measured piece of the work
  std::function<Json(const Tick& tick)> make;
  // false: it keeps its work by itself (a comparison), and is asked every time. A result with "failed" true is never
  // kept.
  bool kept = true;
};
using PieceResults = std::map<std::string, Json>;

struct TextFile {
  std::string name;
  std::string content;
};

struct ReproductionReport {
  std::string text;  // Markdown, without the title
  Json results;
  std::vector<TextFile> data;      // that the pictures are drawn from
  std::vector<TextFile> pictures;  // names without ending, and scripts that draw NAME.svg
};

struct ReproductionPlan {
  Json settings;  // all that the numbers depend on; a folder of others is refused
  std::vector<Piece> pieces;
  std::vector<std::string> adopted;  // folders that may have been made before, by `compare`
  bool seeded = true;                // false: all trainings have the first seed, whatever --seeds says
  std::function<ReproductionReport(const PieceResults&)> report;
};

struct Reproduction {
  std::string name;
  std::string summary;
  std::function<ReproductionPlan(const ReproduceContext&)> plan;
  std::vector<std::string> forms = {};  // in which it can be made, the first one unless asked; none: there is but one
};

const std::vector<Reproduction>& reproductions();

// The one of this name, or all of them. Throws UserError if there is none.
std::vector<const Reproduction*> find_reproductions(const std::string& name);

// Thrown by a tick, and by pieces of their own accord, when a signal asks to stop.
struct Stopped {
  int signal = 0;
};

// One file each: NAME.cpp.
Reproduction errors_reproduction();
Reproduction fobg_reproduction();
Reproduction gradients_reproduction();
Reproduction horizon_reproduction();
Reproduction radius_reproduction();
Reproduction sensitivity_reproduction();
Reproduction table1_reproduction();
Reproduction world_model_reproduction();

}  // namespace cgpo
