#include "cgpo/run/run_data.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>

#include "cgpo/base/error.hpp"

namespace cgpo {
namespace fs = std::filesystem;

namespace {

std::string number_text(int iteration) { return fmt::format("{:08}", iteration); }

}  // namespace

fs::path RunData::path(int last) const { return folder_ / (number_text(last) + ".safetensors"); }

std::vector<int> RunData::files() const {
  std::vector<int> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().stem().string();
    int last = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), last);
    if (error == std::errc() && end == name.data() + name.size() && entry.path() == path(last)) found.push_back(last);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void RunData::load(Algorithm& algorithm, int iterations) const {
  for (const int last : files()) {
    if (last >= iterations) break;
    std::map<std::string, Tensors> pieces;  // by iteration
    const Tensors all = read_tensors(path(last));
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
    if (last >= iterations) fs::remove(path(last));
  }
}

void RunData::add(int iteration, std::shared_ptr<const Tensors> data) {
  if (data != nullptr) pieces_.push_back({iteration, std::move(data)});
}

void RunData::write() {
  if (pieces_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw UserError("cannot create the folder '{}': {}", folder_.string(), error.message());
  Tensors all;
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
