// A twin held against the engine that it stands for, and fitted to it.
//
// From states of real episodes the twin takes the real actions; what it comes to less what the engine came to is its
// error, each entry of the state in units of the root mean square of what the engine changes it by. Its parameters
// (Task::parameters) minimise, over their logarithms θ,
//   mean over samples and entries of (one-step error)² + prior · |θ − θ₀|²,
// θ₀ being what the task says. Stiffer twins are nearer to a rigid engine and their derivatives noisier, so nothing
// goes far from there for little. Each iteration takes a few Levenberg-Marquardt steps on its own episodes: tangents of
// all parameters go beside the substeps, which give the Gauss-Newton matrix with the gradient.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cgpo/base/tensors.hpp"
#include "cgpo/rollout/trajectory.hpp"
#include "cgpo/updates/report.hpp"
#include "cgpo/updates/settings.hpp"

namespace cgpo {

// Pieces of real episodes, so many steps each; column i belongs to piece i.
struct EpisodePieces {
  int count = 0;
  int steps = 1;
  RowStore<double> first;      // [states]
  RowStore<double> actions;    // [steps · actions], step by step
  RowStore<double> last;       // [states], where the engine was after them
  std::vector<double> scales;  // [states], 1 over the root mean square of last − first; 0: an entry that never changes
};

// At most so many, spread evenly over all that episodes have.
template <class Real>
EpisodePieces take_pieces(const Batch<Real>& batch, int steps, int most);

// The mean squared error of a twin, and what it says of the parameters' logarithms.
struct TwinError {
  double mean_square = 0.0;
  int lost = 0;                   // pieces where the twin's state is not finite, which are left out
  std::vector<double> gradient;   // half of it, and
  std::vector<double> curvature;  // the Gauss-Newton matrix, row by row; empty if they were not asked for
};

class TwinFit {
 public:
  TwinFit(std::shared_ptr<const Task> twin, const TwinSettings& settings, Backend backend);

  // Fits the parameters to a batch of the engine's episodes and reports how good the twin is now.
  template <class Real>
  void learn(const Batch<Real>& batch, int window, ThreadPool& pool, IterationReport& report);
  TwinError error(const EpisodePieces& pieces, std::span<const double> logarithms, bool derivative,
                  ThreadPool& pool) const;

  bool has_parameters() const { return !logarithms_.empty(); }
  const std::vector<double>& logarithms() const { return logarithms_; }
  std::vector<double> parameters() const;
  void fit(const EpisodePieces& pieces, ThreadPool& pool);

  void save(Tensors& tensors) const;
  void load(const Tensors& tensors);

  static std::int64_t bytes(const Task& twin, int window);

 private:
  struct Workspace;
  void add_errors(const EpisodePieces& pieces, int begin, int lanes, Workspace& workspace, TwinError& sum) const;
  double objective(const TwinError& error, std::span<const double> logarithms) const;
  // Where a step from `now` leads; empty: nowhere.
  std::vector<double> try_step(const TwinError& now) const;

  std::shared_ptr<const Task> twin_;
  double prior_;
  std::unique_ptr<Kernel<double>> substep_;
  std::unique_ptr<Kernel<double>> tangent_;  // null: nothing is fitted
  std::vector<double> standards_;            // θ₀
  std::vector<double> logarithms_;           // θ
  double damping_;                           // of Levenberg and Marquardt
};

}  // namespace cgpo
