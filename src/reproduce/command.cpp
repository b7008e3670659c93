#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <unistd.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/stop_signal.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/campaign/gnuplot.hpp"
#include "cgpo/reproduce/reproduce.hpp"
#include "cgpo/run/run_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct ReproductionPaths {
  fs::path folder;
  std::string name;

  fs::path marker() const { return folder / "reproduce.json"; }  // says what it is, with all settings
  fs::path pieces() const { return folder / "pieces"; }
  fs::path piece(const std::string& piece) const { return pieces() / (piece + ".json"); }
  fs::path table() const { return folder / (name + ".md"); }
  fs::path json() const { return folder / (name + ".json"); }
};

// The names of all keys below which two objects differ, the first of them with both values.
std::string first_difference(const Json& before, const Json& after) {
  const Json a = before.flatten();
  const Json b = after.flatten();
  for (const auto& [key, value] : b.items()) {
    const Json found = a.contains(key) ? a[key] : Json();
    std::string name = key.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    if (found != value) return fmt::format("{} is {} there, not {}", name, found.dump(), value.dump());
  }
  return a == b ? "" : "it has more settings";
}

// Reads only. Throws UserError unless the folder is new, empty, of this reproduction with these settings, or holds
// nothing but folders that it would take up.
void check_folder(const ReproductionPaths& paths, const Json& marker, const std::vector<std::string>& adopted) {
  std::error_code ignored;
  const std::string name = paths.folder.string();
  if (!fs::exists(paths.folder, ignored)) return;
  if (!fs::is_directory(paths.folder, ignored)) throw UserError("'{}' is a file, not a folder for results", name);
  if (fs::exists(paths.marker(), ignored)) {
    Json found = Json::parse(read_file(paths.marker()), nullptr, /*allow_exceptions=*/false);
    if (!found.is_object()) throw UserError("'{}' is damaged; give --out another folder", paths.marker().string());
    if (!marker.contains("seeds")) found.erase("seeds");  // they do not count
    const std::string difference = first_difference(found, marker);
    if (difference.empty()) return;
    throw UserError("'{}' was made with other settings: {}; give --out another folder", name, difference);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (entry.path() == RunPaths{paths.folder}.lock()) continue;
    if (std::find(adopted.begin(), adopted.end(), file) != adopted.end()) continue;
    throw UserError("'{}' holds other files and no reproduction; give --out a folder that is empty or new", name);
  }
}

// How far it is, in one line: redrawn on a terminal, else printed now and then.
class PieceProgress {
 public:
  PieceProgress(double estimate, std::size_t pieces) : left_(estimate), pieces_(pieces) {}

  void begin(const std::string& name, double estimate) {
    name_ = name;
    estimate_ = estimate;
    begin_ = Clock::now();
    ++index_;
  }
  void show(double share) {
    if (seconds_since(shown_at_) < (terminal_ ? 0.2 : 10.0)) return;
    shown_at_ = Clock::now();
    const double spent = seconds_since(begin_);
    // What this piece has shown of its pace counts for more the further it is.
    const double whole = share > 0.0 ? share * (spent / share) + (1.0 - share) * estimate_ : estimate_;
    const double left = std::max(0.0, left_ - estimate_) * pace() + std::max(0.0, whole * (1.0 - share));
    fmt::print(stderr, "{}{}/{} {} {:.0f} %, {} left{}", terminal_ ? "\r\x1b[2K" : "", index_, pieces_, name_,
               100.0 * share, format_duration(left), terminal_ ? "" : "\n");
    std::fflush(stderr);
  }
  void end() {
    const double spent = seconds_since(begin_);
    spent_ += spent;
    expected_ += estimate_;
    left_ -= estimate_;
    fmt::print(stderr, "{}{}/{} {}: {}\n", terminal_ ? "\r\x1b[2K" : "", index_, pieces_, name_,
               format_duration(spent));
    std::fflush(stderr);
  }

 private:
  double pace() const { return expected_ > 0.0 ? spent_ / expected_ : 1.0; }

  double left_;
  std::size_t pieces_;
  const bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  std::string name_;
  double estimate_ = 0.0;
  double spent_ = 0.0;
  double expected_ = 0.0;
  std::size_t index_ = 0;
  Clock::time_point begin_;
  Clock::time_point shown_at_ = Clock::now();
};

// A result that was kept, if it is whole.
std::optional<Json> read_piece(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  Json found = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!found.is_object() || !found.contains("result") || !found.contains("seconds")) return std::nullopt;
  return found;
}

std::string command_of(const std::string& name, const ReproduceContext& context, bool seeded) {
  std::string text = fmt::format("{} reproduce {}", program_name(), name);
  if (context.quick) text += " --quick";
  if (seeded) text += fmt::format(" --seeds {}", context.seeds);
  return text;
}

bool has_failed(const Json& result) { return result.is_object() && result.value("failed", false); }

// A reproduction with all that is known before any of its work is done.
struct Prepared {
  const Reproduction* reproduction;
  ReproduceContext context;
  ReproductionPlan plan;
  ReproductionPaths paths;
  Json marker;
  std::map<std::string, double> seconds = {};  // of the pieces that are missing, once they have been estimated
};

// Reads only. Throws UserError if the folder is not its own.
Prepared prepare(const Reproduction& reproduction, const ReproduceOptions& options, const fs::path& folder,
                 ThreadPool& pool) {
  const ReproduceContext context{
      options.quick, options.seeds.value_or(options.quick ? 2 : 5), options.threads, options.jobs, folder, &pool};
  Prepared prepared{&reproduction, context, reproduction.plan(context), {folder, reproduction.name}, {}};
  prepared.marker["reproduces"] = reproduction.name;
  prepared.marker["quick"] = options.quick;
  if (prepared.plan.seeded) prepared.marker["seeds"] = context.seeds;
  prepared.marker["settings"] = prepared.plan.settings;
  check_folder(prepared.paths, prepared.marker, prepared.plan.adopted);
  return prepared;
}

bool is_missing(const Prepared& prepared, const Piece& piece) {
  return !piece.kept || !read_piece(prepared.paths.piece(piece.name));
}

// Of all that is missing, from measured pieces of the work.
double estimate_seconds(Prepared& prepared) {
  double sum = 0.0;
  for (const Piece& piece : prepared.plan.pieces) {
    if (!is_missing(prepared, piece)) continue;
    if (prepared.seconds.empty()) fmt::print(stderr, "{}: timing a piece of the work first\n", prepared.paths.name);
    if (!prepared.seconds.contains(piece.name)) prepared.seconds[piece.name] = piece.seconds();
    sum += prepared.seconds[piece.name];
  }
  return sum;
}

// Makes what is missing. Throws Stopped.
PieceResults make_pieces(Prepared& prepared, double& seconds) {
  const ReproductionPaths& paths = prepared.paths;
  const std::vector<Piece>& pieces = prepared.plan.pieces;
  PieceResults results;
  std::vector<const Piece*> missing;
  for (const Piece& piece : pieces) {
    const std::optional<Json> found = piece.kept ? read_piece(paths.piece(piece.name)) : std::nullopt;
    if (!found) {
      missing.push_back(&piece);
      continue;
    }
    results[piece.name] = (*found)["result"];
    seconds += (*found)["seconds"].get<double>();
  }
  const double estimate = estimate_seconds(prepared);
  fmt::print(stderr, "{} in {}: {} pieces, {} done already; the rest will take about {}\n", paths.name,
             paths.folder.string(), pieces.size(), pieces.size() - missing.size(), format_duration(estimate));
  std::fflush(stderr);
  PieceProgress progress(estimate, missing.size());
  for (const Piece* wanted : missing) {
    const Piece& piece = *wanted;
    progress.begin(piece.name, prepared.seconds[piece.name]);
    const Clock::time_point begin = Clock::now();
    if (piece.kept) {
      const StopSignal stop;
      results[piece.name] = piece.make([&](double share) {
        if (const int signal = StopSignal::flag()) throw Stopped{signal};
        progress.show(share);
      });
      Json file;
      file["seconds"] = seconds_since(begin);
      file["result"] = results[piece.name];
      if (!has_failed(results[piece.name])) write_file_atomically(paths.piece(piece.name), file.dump() + "\n");
      results[piece.name] = Json::parse(file["result"].dump());  // as it will be read: null for what is not finite
      seconds += file["seconds"].get<double>();
    } else {
      results[piece.name] = piece.make(no_tick);
      seconds += results[piece.name].value("training_seconds", 0.0);
    }
    progress.end();
  }
  return results;
}

// Throws UserError, and Stopped.
ReproduceOutcome make_reproduction(Prepared& prepared, const ReproduceOptions& options) {
  const Reproduction& reproduction = *prepared.reproduction;
  const ReproduceContext& context = prepared.context;
  const ReproductionPlan& plan = prepared.plan;
  const ReproductionPaths& paths = prepared.paths;
  const fs::path& folder = paths.folder;
  const FolderLock lock(folder);
  check_folder(paths, prepared.marker, plan.adopted);  // another process may have filled it in between
  fs::create_directories(paths.pieces());
  write_file_atomically(paths.marker(), prepared.marker.dump(2) + "\n");
  if (options.seeds && !plan.seeded)
    fmt::print(stderr, "{}: --seeds changes nothing here, all trainings have seed 0\n", reproduction.name);

  double seconds = 0.0;
  const PieceResults results = make_pieces(prepared, seconds);
  bool failed = false;
  for (const auto& [name, result] : results) failed = failed || has_failed(result);

  const ReproductionReport report = plan.report(results);
  for (const TextFile& file : report.data) write_file_atomically(folder / file.name, file.content);
  std::string pictures;
  for (const TextFile& picture : report.pictures) {
    const std::string trouble = draw_picture(folder, picture.name, picture.content);
    if (trouble.empty()) {
      pictures += fmt::format("\n![{0}]({0}.svg)\n", picture.name);
    } else {
      fmt::print(stderr, "{}\n", trouble);
    }
  }
  ReproduceOutcome outcome;
  outcome.code = failed ? 1 : 0;
  outcome.text = fmt::format("# {}: {}\n\nBy `{}` ({}), in {} of computing.\n\n{}{}", reproduction.name,
                             reproduction.summary, command_of(reproduction.name, context, plan.seeded), kVersion,
                             format_duration(seconds), report.text, pictures);
  outcome.json["name"] = reproduction.name;
  outcome.json["quick"] = options.quick;
  outcome.json["seeds"] = plan.seeded ? context.seeds : 1;
  outcome.json["seconds"] = seconds;
  outcome.json["out"] = folder.string();
  outcome.json["settings"] = plan.settings;
  outcome.json["results"] = report.results;
  write_file_atomically(paths.table(), outcome.text);
  write_file_atomically(paths.json(), outcome.json.dump(1) + "\n");
  return outcome;
}

const Reproduction& find_reproduction(const std::string& name) {
  std::vector<std::string> names;
  for (const Reproduction& reproduction : reproductions()) {
    if (reproduction.name == name) return reproduction;
    names.push_back(reproduction.name);
  }
  names.emplace_back("all");
  if (name.empty()) throw UserError("reproduce needs a name; there are: {}", fmt::join(names, ", "));
  throw UserError("there is no '{}' to reproduce{}; there are: {}", name, did_you_mean(name, names),
                  fmt::join(names, ", "));
}

}  // namespace

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> all = {
      table1_reproduction(),  errors_reproduction(),      fobg_reproduction(),      radius_reproduction(),
      horizon_reproduction(), world_model_reproduction(), gradients_reproduction(), sensitivity_reproduction(),
  };
  return all;
}

ReproduceOutcome reproduce_one(const Reproduction& reproduction, const ReproduceOptions& options,
                               const fs::path& folder) {
  ThreadPool pool(options.threads);
  Prepared prepared = prepare(reproduction, options, folder, pool);
  return make_reproduction(prepared, options);
}

int reproduce_command(const ReproduceOptions& options) {
  const fs::path folder =
      options.out ? fs::path(*options.out)
                  : fs::path("runs") / fmt::format("reproduce-{}{}", options.name, options.quick ? "-quick" : "");
  std::vector<const Reproduction*> chosen;
  if (options.name == "all") {
    for (const Reproduction& reproduction : reproductions()) chosen.push_back(&reproduction);
  } else {
    chosen.push_back(&find_reproduction(options.name));
  }
  const bool one = chosen.size() == 1;
  int code = 0;
  Json all = Json::array();
  ThreadPool pool(options.threads);
  std::vector<Prepared> all_prepared;
  for (const Reproduction* reproduction : chosen)
    all_prepared.push_back(prepare(*reproduction, options, one ? folder : folder / reproduction->name, pool));
  if (!one) {
    double seconds = 0.0;
    for (Prepared& prepared : all_prepared) seconds += estimate_seconds(prepared);
    fmt::print(stderr, "all of them in {}: about {}\n", folder.string(), format_duration(seconds));
  }
  try {
    for (Prepared& prepared : all_prepared) {
      const ReproduceOutcome outcome = make_reproduction(prepared, options);
      code = std::max(code, outcome.code);
      if (!options.json) fmt::print("{}{}", all.empty() ? "" : "\n", outcome.text);
      std::fflush(stdout);
      all.push_back(outcome.json);
    }
  } catch (const Stopped& stopped) {
    fmt::print(stderr, "\nstopped; the same command goes on where it was\n");
    return 128 + stopped.signal;
  }
  if (options.json) {
    Json json;
    json["reproductions"] = all;
    fmt::print("{}\n", (one ? all.front() : json).dump());
  }
  return code;
}

}  // namespace cgpo
