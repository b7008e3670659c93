#include "cgpo/reproduce/making.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/ranges.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/campaign/gnuplot.hpp"
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
ReproductionPaths paths_of(const PreparedReproduction& prepared) {
  return {prepared.context.folder, prepared.reproduction->name};
}

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
    Json found = parse_json(read_file(paths.marker()));
    if (!found.is_object()) throw UserError("'{}' is damaged; give --out another folder", paths.marker().string());
    if (!marker.contains("seeds")) found.erase("seeds");  // they do not count
    const std::string difference = first_difference(found, marker);
    if (difference.empty()) return;
    throw UserError("'{}' was made with other settings: {}; give --out another folder", name, difference);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (entry.path() == RunPaths{paths.folder}.lock()) continue;
    if (name_behind_temporary(file) == paths.marker().filename()) continue;
    if (std::find(adopted.begin(), adopted.end(), file) != adopted.end()) continue;
    throw UserError("'{}' holds other files and no reproduction; give --out a folder that is empty or new", name);
  }
}

// How far it is, in one line.
class PieceProgress {
 public:
  PieceProgress(double estimate, std::size_t pieces, const Listener& listener)
      : left_(estimate), pieces_(pieces), listener_(listener) {}

  void begin(const std::string& name, double estimate) {
    name_ = name;
    estimate_ = estimate;
    begin_ = Clock::now();
    ++index_;
  }
  void show(double share) const {
    const double spent = seconds_since(begin_);
    // What this piece has shown of its pace counts for more the further it is.
    const double whole = share > 0.0 ? share * (spent / share) + (1.0 - share) * estimate_ : estimate_;
    const double left = std::max(0.0, left_ - estimate_) * pace() + std::max(0.0, whole * (1.0 - share));
    listener_.status(
        fmt::format("{}/{} {} {:.0f} %, {} left", index_, pieces_, name_, 100.0 * share, format_duration(left)));
  }
  void end() {
    const double spent = seconds_since(begin_);
    spent_ += spent;
    expected_ += estimate_;
    left_ -= estimate_;
    listener_.event(fmt::format("{}/{} {}: {}", index_, pieces_, name_, format_duration(spent)));
  }

 private:
  double pace() const { return expected_ > 0.0 ? spent_ / expected_ : 1.0; }

  double left_;
  std::size_t pieces_;
  const Listener& listener_;
  std::string name_;
  double estimate_ = 0.0;
  double spent_ = 0.0;
  double expected_ = 0.0;
  std::size_t index_ = 0;
  Clock::time_point begin_;
};

// A result that was kept and how long it took, if it is whole.
std::optional<Json> read_piece(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  Json found = parse_json(read_file(path));
  if (!found.is_object() || !found.contains("result") || !found.contains("seconds")) return std::nullopt;
  return found;
}

std::string command_of(const PreparedReproduction& prepared) {
  std::string text = fmt::format("{} reproduce {}", program_name(), prepared.reproduction->name);
  if (prepared.context.quick) text += " --quick";
  if (prepared.plan.seeded) text += fmt::format(" --seeds {}", prepared.context.seeds);
  if (prepared.context.first_seed != kFirstPublishedSeed) {
    text += fmt::format(" --first-seed {}", prepared.context.first_seed);
  }
  const std::vector<std::string>& forms = prepared.reproduction->forms;
  if (!forms.empty() && prepared.context.form != forms.front()) text += " --form " + prepared.context.form;
  return text;
}

// The one that was asked for, or the first; one that has no forms takes any for none.
std::string form_of(const Reproduction& reproduction, const std::optional<std::string>& wanted) {
  const std::vector<std::string>& forms = reproduction.forms;
  if (forms.empty()) return "";
  std::string form = wanted.value_or(forms.front());
  if (std::find(forms.begin(), forms.end(), form) == forms.end()) {
    throw UserError("--form of {} must be {}, not '{}'", reproduction.name, fmt::join(forms, " or "), form);
  }
  return form;
}

bool has_failed(const Json& result) { return result.is_object() && result.value("failed", false); }

void stop_if_asked(const Listener& listener) {
  if (const int signal = listener.stop()) throw Stopped{signal};
}

struct MadePieces {
  PieceResults results;
  double seconds = 0.0;  // that all of them took, whenever that was
};

// Of one that keeps nothing by itself: its result is written as soon as it is there, unless it failed.
void make_kept_piece(const Piece& piece, const fs::path& path, const Listener& listener, const PieceProgress& progress,
                     MadePieces& made) {
  const Clock::time_point begin = Clock::now();
  Json file;
  file["seconds"] = 0.0;
  file["result"] = piece.make([&](double share) {
    stop_if_asked(listener);
    progress.show(share);
  });
  file["seconds"] = seconds_since(begin);
  if (!has_failed(file["result"])) write_file_atomically(path, file.dump() + "\n");
  made.results[piece.name] = Json::parse(file["result"].dump());  // as it will be read: null for what is not finite
  made.seconds += file["seconds"].get<double>();
}

// Makes what is missing. Throws Stopped.
MadePieces make_pieces(PreparedReproduction& prepared) {
  const Listener& listener = prepared.context.listener;
  const ReproductionPaths paths = paths_of(prepared);
  const std::vector<Piece>& pieces = prepared.plan.pieces;
  MadePieces made;
  for (const auto& [name, file] : prepared.kept) {
    made.results[name] = file["result"];
    made.seconds += file["seconds"].get<double>();
  }
  const double estimate = estimate_seconds(prepared);
  const std::size_t missing = pieces.size() - prepared.kept.size();
  listener.event(fmt::format("{} in {}: {} pieces, {} done already; the rest will take about {}", paths.name,
                             paths.folder.string(), pieces.size(), prepared.kept.size(), format_duration(estimate)));
  PieceProgress progress(estimate, missing, listener);
  for (const Piece& piece : pieces) {
    if (prepared.kept.contains(piece.name)) continue;
    stop_if_asked(listener);
    progress.begin(piece.name, prepared.seconds[piece.name]);
    if (piece.kept) {
      make_kept_piece(piece, paths.piece(piece.name), listener, progress, made);
    } else {
      made.results[piece.name] = piece.make(no_tick);
      made.seconds += made.results[piece.name].value("training_seconds", 0.0);
    }
    progress.end();
  }
  return made;
}

// Writes the data and draws the pictures. Returns the lines of Markdown that show them.
std::string draw_pictures(const ReproductionReport& report, const fs::path& folder, const Listener& listener) {
  for (const TextFile& file : report.data) write_file_atomically(folder / file.name, file.content);
  std::string lines;
  for (const TextFile& picture : report.pictures) {
    const std::string trouble = draw_picture(folder, picture.name, picture.content);
    if (trouble.empty()) {
      lines += fmt::format("\n![{0}]({0}.svg)\n", picture.name);
    } else {
      listener.event(trouble);
    }
  }
  return lines;
}

}  // namespace

PreparedReproduction prepare_reproduction(const Reproduction& reproduction, const ReproduceOptions& options,
                                          const fs::path& folder, ThreadPool& pool, const Listener& listener) {
  const int seeds = options.seeds.value_or(options.quick ? 2 : 5);
  const ReproduceContext context{
      .quick = options.quick,
      .seeds = seeds,
      .first_seed = options.first_seed ? static_cast<std::uint64_t>(*options.first_seed) : kFirstPublishedSeed,
      .form = form_of(reproduction, options.form),
      .threads = options.threads,
      .jobs = options.jobs,
      .folder = folder,
      .pool = &pool,
      .listener = listener};
  PreparedReproduction prepared{&reproduction, context, options, reproduction.plan(context), {}};
  prepared.marker["reproduces"] = reproduction.name;
  prepared.marker["quick"] = options.quick;
  if (prepared.plan.seeded) prepared.marker["seeds"] = context.seeds;
  prepared.marker["first_seed"] = context.first_seed;
  if (!context.form.empty()) prepared.marker["form"] = context.form;
  prepared.marker["settings"] = prepared.plan.settings;
  const ReproductionPaths paths = paths_of(prepared);
  check_folder(paths, prepared.marker, prepared.plan.adopted);
  for (const Piece& piece : prepared.plan.pieces) {
    if (!piece.kept) continue;
    if (std::optional<Json> found = read_piece(paths.piece(piece.name))) prepared.kept[piece.name] = *std::move(found);
  }
  return prepared;
}

double estimate_seconds(PreparedReproduction& prepared) {
  const Listener& listener = prepared.context.listener;
  double sum = 0.0;
  for (const Piece& piece : prepared.plan.pieces) {
    if (prepared.kept.contains(piece.name)) continue;
    stop_if_asked(listener);
    if (prepared.seconds.empty()) {
      listener.event(fmt::format("{}: timing a piece of the work first", prepared.reproduction->name));
    }
    if (!prepared.seconds.contains(piece.name)) prepared.seconds[piece.name] = piece.seconds();
    sum += prepared.seconds[piece.name];
  }
  return sum;
}

ReproduceOutcome make_reproduction(PreparedReproduction& prepared) {
  const Reproduction& reproduction = *prepared.reproduction;
  const ReproduceContext& context = prepared.context;
  const ReproductionPlan& plan = prepared.plan;
  const ReproductionPaths paths = paths_of(prepared);
  const FolderLock lock(paths.folder);
  check_folder(paths, prepared.marker, plan.adopted);  // another process may have filled it in between
  remove_leftovers(paths.folder, [&](const std::string& name) { return name == paths.marker().filename(); });
  remove_leftovers(paths.pieces(), [](const std::string&) { return true; });
  create_folder(paths.pieces());
  write_file_atomically(paths.marker(), json_text(prepared.marker, 2) + "\n");
  if (prepared.options.seeds && !plan.seeded) {
    context.listener.event(fmt::format("{}: --seeds changes nothing here, all trainings have seed {}",
                                       reproduction.name, context.first_seed));
  }
  if (prepared.options.form && reproduction.forms.empty()) {
    context.listener.event(fmt::format("{}: --form changes nothing here, there is but one", reproduction.name));
  }
  const MadePieces made = make_pieces(prepared);
  const ReproductionReport report = plan.report(made.results);
  const std::string pictures = draw_pictures(report, paths.folder, context.listener);
  ReproduceOutcome outcome;
  outcome.failed =
      std::any_of(made.results.begin(), made.results.end(), [](const auto& entry) { return has_failed(entry.second); });
  outcome.text =
      fmt::format("# {}: {}\n\nBy `{}` ({}), in {} of computing.\n\n{}{}", reproduction.name, reproduction.summary,
                  command_of(prepared), kVersion, format_duration(made.seconds), report.text, pictures);
  outcome.json["name"] = reproduction.name;
  outcome.json["quick"] = context.quick;
  outcome.json["seeds"] = plan.seeded ? context.seeds : 1;
  outcome.json["first_seed"] = context.first_seed;
  if (!context.form.empty()) outcome.json["form"] = context.form;
  outcome.json["seconds"] = made.seconds;
  outcome.json["out"] = paths.folder.string();
  outcome.json["settings"] = plan.settings;
  outcome.json["results"] = report.results;
  write_file_atomically(paths.table(), outcome.text);
  write_file_atomically(paths.json(), json_text(outcome.json, 1) + "\n");
  return outcome;
}

}  // namespace cgpo
