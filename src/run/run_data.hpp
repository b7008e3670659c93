// What an algorithm learned from, beside its checkpoint: files that are written once and never changed.
//
// data/ITERATION.safetensors holds what the iterations since the file before it added, the last of them in its name. It
// is on the disk before the checkpoint that needs it, and goes only after one that does not: whatever the moment of a
// crash, a checkpoint finds its data. Files beyond the checkpoint belong to iterations that will be done again.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "cgpo/run/run_folder.hpp"
#include "cgpo/updates/algorithm.hpp"

namespace cgpo {

class RunData {
 public:
  explicit RunData(RunPaths run) : run_(std::move(run)) {}

  // Hands the data of the iterations below `iterations` to the algorithm; reads only. Throws UserError if a file is
  // damaged, or of another run than the checkpoint.
  void load(Algorithm& algorithm, int iterations, const Tensors& checkpoint) const;
  void cut(int iterations) const;  // removes what is beyond

  void add(int iteration, std::shared_ptr<const Tensors> data);  // null: nothing
  void write(const Tensors& checkpoint);                         // what was added; and of which run it is
  void remove_before(int iteration) const;

 private:
  struct Piece {
    int iteration;
    std::shared_ptr<const Tensors> data;
  };
  std::vector<int> files() const;  // the last iteration of each, in order
  std::filesystem::path path(int last) const;

  RunPaths run_;
  std::vector<Piece> pieces_;
};

}  // namespace cgpo
