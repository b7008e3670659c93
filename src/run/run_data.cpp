#include "cgpo/run/run_data.hpp"

#include <fmt/format.h>
#include <map>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/run/folder_life.hpp"

namespace cgpo {
namespace fs = std::filesystem;

namespace {

std::string number_text(int iteration) { return fmt::format("{:08}", iteration); }

std::map<std::string, std::string> identity_of(const Tensors& tensors) {
  std::map<std::string, std::string> identity;
  for (const char* what : {"task", "algorithm", "seed"}) {
    if (const auto found = tensors.metadata.find(what); found != tensors.metadata.end()) identity.insert(*found);
  }
  return identity;
}

}  // namespace

fs::path RunData::path(int last) const { return run_.data_file(last); }

std::vector<int> RunData::files() const { return find_numbered(run_.data(), kDataDigits); }

void RunData::load(Algorithm& algorithm, int iterations, const Tensors& checkpoint) const {
  for (const int last : files()) {
    if (last >= iterations) break;
    std::map<std::string, Tensors> pieces;  // by iteration
    const Tensors all = read_tensors(path(last));
    for (const auto& [what, text] : identity_of(all)) {
      const auto own = checkpoint.metadata.find(what);
      if (own == checkpoint.metadata.end() || own->second == text) continue;
      throw UserError("'{}' is the data of a run of {} {}, not {}", path(last).string(), what, text, own->second);
    }
    for (const auto& [name, tensor] : all.entries) {
      const std::size_t slash = name.find('/');
      if (slash == std::string::npos) throw UserError("'{}' is not the data of a run", path(last).string());
      pieces[name.substr(0, slash)].entries[name.substr(slash + 1)] = tensor;
    }
    for (const auto& [iteration, piece] : pieces) {
      try {
        algorithm.load_data(piece);
      } catch (const UserError& error) {
        throw UserError("'{}' does not fit this run: {}", path(last).string(), error.what());
      }
    }
  }
}

void RunData::cut(int iterations) const {
  for (const int last : files()) {
    if (last >= iterations) remove_entry(path(last));
  }
}

void RunData::add(int iteration, std::shared_ptr<const Tensors> data) {
  if (data != nullptr) pieces_.push_back({iteration, std::move(data)});
}

void RunData::write(const Tensors& checkpoint) {
  if (pieces_.empty()) return;
  create_folder(run_.data());
  Tensors all;
  all.metadata = identity_of(checkpoint);
  for (const Piece& piece : pieces_) {
    for (const auto& [name, tensor] : piece.data->entries) {
      all.entries[fmt::format("{}/{}", number_text(piece.iteration), name)] = tensor;
    }
  }
  write_tensors(path(pieces_.back().iteration), all);
  pieces_.clear();
}

void RunData::remove_before(int iteration) const {
  for (const int last : files()) {
    std::error_code ignored;
    if (last < iteration) fs::remove(path(last), ignored);
  }
}

}  // namespace cgpo
