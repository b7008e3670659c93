#include "cgpo/updates/twin_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/graph/differentiate.hpp"
#include "cgpo/nn/cholesky.hpp"
#include "cgpo/tasks/robots/measured.hpp"

namespace cgpo {
namespace {

constexpr int kSteps = 2048;   // single steps that a fit looks at
constexpr int kWindows = 256;  // windows that are only measured
constexpr int kLanes = 32;     // of a call
constexpr int kParts = 16;     // sums are made of so many, whoever makes them
constexpr int kTries = 4;      // steps of an iteration's fit, those too that are not taken
constexpr double kFirstDamping = 1e-2;
constexpr double kLeastDamping = 1e-6;
constexpr double kMostDamping = 1e4;
constexpr double kFarthest = 1.5;  // a step's most, in logarithms
constexpr double kBound = 5.0;     // |θ − θ₀| stays below: a factor of 150
constexpr double kEnough = 1e-3;   // share of the objective below which a step is not worth another one

// Steps of an episode that its state is known before and after, of a lane.
template <class Real>
int known_steps(const TrajectoryBlock<Real>& block, int lane) {
  const auto l = static_cast<std::size_t>(lane);
  return block.diverged[l] != 0 ? 0 : std::min(block.length[l], block.simulated);
}

void find_scales(EpisodePieces& pieces) {
  const int states = pieces.first.rows();
  pieces.scales.assign(at(states), 0.0);
  for (int i = 0; i < states; ++i) {
    double sum = 0.0;
    for (int c = 0; c < pieces.count; ++c) {
      const double change = pieces.last.view().row(i)[c] - pieces.first.view().row(i)[c];
      sum += change * change;
    }
    if (sum > 0.0) pieces.scales[at(i)] = std::sqrt(pieces.count / sum);
  }
}

}  // namespace

template <class Real>
EpisodePieces take_pieces(const Batch<Real>& batch, int steps, int most) {
  std::int64_t all = 0;
  for_each_episode(batch,
                   [&](const auto& block, int lane) { all += std::max(known_steps(block, lane) - steps + 1, 0); });
  EpisodePieces pieces;
  pieces.steps = steps;
  pieces.count = static_cast<int>(std::min<std::int64_t>(all, most));
  const int states = batch.blocks.front().states.rows();
  const int actions = batch.blocks.front().actions.rows();
  pieces.first.resize(states, pieces.count);
  pieces.actions.resize(steps * actions, pieces.count);
  pieces.last.resize(states, pieces.count);
  std::int64_t seen = 0;
  int taken = 0;
  for_each_episode(batch, [&](const auto& block, int lane) {
    const int begins = std::max(known_steps(block, lane) - steps + 1, 0);
    // Piece number c is the one at c·all/count.
    for (; taken < pieces.count && taken * all / pieces.count < seen + begins; ++taken) {
      const auto t = static_cast<int>(taken * all / pieces.count - seen);
      const std::ptrdiff_t from = block.column(t) + lane;
      const std::ptrdiff_t to = block.column(t + steps) + lane;
      for (int i = 0; i < states; ++i) {
        pieces.first.view().row(i)[taken] = static_cast<double>(block.states.view().row(i)[from]);
        pieces.last.view().row(i)[taken] = static_cast<double>(block.states.view().row(i)[to]);
      }
      for (int k = 0; k < steps; ++k) {
        for (int i = 0; i < actions; ++i) {
          pieces.actions.view().row(k * actions + i)[taken] =
              static_cast<double>(block.actions.view().row(i)[block.column(t + k) + lane]);
        }
      }
    }
    seen += begins;
  });
  find_scales(pieces);
  return pieces;
}

// What a part of the pieces is worked out with.
struct TwinFit::Workspace {
  RowStore<double> state, next;              // [states]
  RowStore<double> parameters;               // [parameters]
  RowStore<double> tangents, next_tangents;  // [parameters · states]
  RowStore<double> zero;                     // [1]
  std::vector<std::uint8_t> good;            // lanes
  std::vector<const double*> inputs;
  std::vector<double*> outputs;
  KernelScratch kernel;

  Workspace(int states, int count, bool derivative)
      : state(states, kLanes), next(states, kLanes), parameters(count, kLanes), zero(1, kLanes), good(kLanes) {
    if (!derivative) return;
    tangents.resize(count * states, kLanes);
    next_tangents.resize(count * states, kLanes);
  }
  void read(Rows<const double> rows, int count) {
    for (int i = 0; i < count; ++i) inputs.push_back(rows.row(i));
  }
  void write(Rows<double> rows, int count) {
    for (int i = 0; i < count; ++i) outputs.push_back(rows.row(i));
  }
  void run(const Kernel<double>& of, int lanes) {
    of.run(inputs.data(), outputs.data(), lanes, kernel);
    inputs.clear();
    outputs.clear();
  }
};

TwinFit::TwinFit(std::shared_ptr<const Task> twin, const TwinSettings& settings, Backend backend)
    : twin_(std::move(twin)), prior_(settings.prior), damping_(kFirstDamping) {
  const Graph graph = substep_graph(*twin_);
  substep_ = compile<double>(graph, backend);
  for (const StepParameter& parameter : twin_->parameters()) standards_.push_back(std::log(parameter.standard));
  logarithms_ = standards_;
  if (has_parameters()) tangent_ = compile<double>(differentiate_forward(graph), backend);
}

std::vector<double> TwinFit::parameters() const {
  std::vector<double> values;
  for (const double logarithm : logarithms_) values.push_back(std::exp(logarithm));
  return values;
}

// A parameter's tangent with respect to its logarithm is the parameter itself.
void TwinFit::add_errors(const EpisodePieces& pieces, int begin, int lanes, Workspace& w, TwinError& sum) const {
  const int states = twin_->spec().states;
  const int actions = twin_->spec().actions;
  const auto count = static_cast<int>(standards_.size());
  const bool derivative = !sum.gradient.empty();
  copy_rows<double>(pieces.first.view().from_column(begin), w.state.view(), states, lanes);
  if (derivative) w.tangents.resize(count * states, kLanes);  // all 0
  const int substeps = twin_->spec().substeps;
  for (int i = 0; i < pieces.steps * substeps; ++i) {
    const Rows<const double> action =
        pieces.actions.view().from_row(std::ptrdiff_t{i / substeps} * actions).from_column(begin);
    const auto read_step = [&] {
      w.read(std::as_const(w.state).view(), states);
      w.read(action, actions);
      w.read(std::as_const(w.parameters).view(), count);
    };
    for (int p = 0; derivative && p < count; ++p) {
      read_step();
      w.read(std::as_const(w.tangents).view().from_row(std::ptrdiff_t{p} * states), states);
      for (int k = 0; k < actions + count; ++k)
        w.inputs.push_back(k == actions + p ? w.parameters.view().row(p) : w.zero.view().row(0));
      w.write(w.next_tangents.view().from_row(std::ptrdiff_t{p} * states), states);
      w.run(*tangent_, lanes);
    }
    read_step();
    w.write(w.next.view(), states);
    w.run(*substep_, lanes);
    std::swap(w.state, w.next);
    std::swap(w.tangents, w.next_tangents);
  }
  for (int i = 0; i < states; ++i) {
    double* const error = w.state.view().row(i);
    const double* const real = pieces.last.view().row(i) + begin;
    for (int l = 0; l < lanes; ++l)
      error[l] = pieces.scales[at(i)] == 0.0 ? 0.0 : pieces.scales[at(i)] * (error[l] - real[l]);
  }
  for (int l = 0; l < lanes; ++l) {
    bool good = true;
    for (int i = 0; i < states; ++i) good = good && std::isfinite(w.state.view().row(i)[l]);
    for (int i = 0; derivative && i < count * states; ++i) good = good && std::isfinite(w.tangents.view().row(i)[l]);
    w.good[at(l)] = good ? 1 : 0;
    if (!good) ++sum.lost;
  }
  // Scaled products of two rows, over the lanes that are good.
  const auto product = [&](const double* a, const double* b) {
    double total = 0.0;
    for (int l = 0; l < lanes; ++l) {
      if (w.good[at(l)] != 0) total += a[l] * b[l];
    }
    return total;
  };
  for (int i = 0; i < states; ++i) {
    const double scale = pieces.scales[at(i)];
    const double* const error = w.state.view().row(i);
    sum.mean_square += product(error, error);
    if (!derivative || scale == 0.0) continue;
    for (int p = 0; p < count; ++p) {
      const double* const tangent = w.tangents.view().row(p * states + i);
      sum.gradient[at(p)] += scale * product(error, tangent);
      for (int q = 0; q <= p; ++q)
        sum.curvature[at(p * count + q)] += scale * scale * product(tangent, w.tangents.view().row(q * states + i));
    }
  }
}

TwinError TwinFit::error(const EpisodePieces& pieces, std::span<const double> logarithms, bool derivative,
                         ThreadPool& pool) const {
  const std::size_t count = standards_.size();
  check(logarithms.size() == count, "a logarithm for every parameter");
  TwinError nothing;
  if (derivative) {
    nothing.gradient.assign(count, 0.0);
    nothing.curvature.assign(count * count, 0.0);
  }
  std::vector<TwinError> parts(kParts, nothing);
  pool.run(kParts, [&](int part) {
    Workspace workspace(twin_->spec().states, static_cast<int>(count), derivative);
    for (std::size_t p = 0; p < count; ++p)
      std::fill_n(workspace.parameters.view().row(static_cast<int>(p)), kLanes, std::exp(logarithms[p]));
    for (int begin = part * kLanes; begin < pieces.count; begin += kParts * kLanes)
      add_errors(pieces, begin, std::min(kLanes, pieces.count - begin), workspace, parts[at(part)]);
  });
  TwinError sum = nothing;
  for (const TwinError& part : parts) {
    sum.mean_square += part.mean_square;
    sum.lost += part.lost;
    for (std::size_t p = 0; p < sum.gradient.size(); ++p) sum.gradient[p] += part.gradient[p];
    for (std::size_t p = 0; p < sum.curvature.size(); ++p) sum.curvature[p] += part.curvature[p];
  }
  const auto entries = static_cast<double>(
      std::count_if(pieces.scales.begin(), pieces.scales.end(), [](double scale) { return scale > 0.0; }));
  const double numbers = entries * (pieces.count - sum.lost);
  if (!(numbers > 0.0)) {
    sum.mean_square = kNan;
    return sum;
  }
  sum.mean_square /= numbers;
  for (double& value : sum.gradient) value /= numbers;
  for (double& value : sum.curvature) value /= numbers;
  return sum;
}

double TwinFit::objective(const TwinError& error, std::span<const double> logarithms) const {
  double sum = error.mean_square;
  for (std::size_t p = 0; p < logarithms.size(); ++p) sum += prior_ * std::pow(logarithms[p] - standards_[p], 2);
  return sum;
}

std::vector<double> TwinFit::try_step(const TwinError& now) const {
  const std::size_t count = standards_.size();
  std::vector<double> matrix = now.curvature;
  std::vector<double> step(count);
  for (std::size_t p = 0; p < count; ++p) {
    double& diagonal = matrix[p * count + p];
    diagonal = (1.0 + damping_) * (diagonal + prior_) + 1e-12;
    step[p] = -(now.gradient[p] + prior_ * (logarithms_[p] - standards_[p]));
  }
  if (!cholesky_factor(matrix, static_cast<int>(count))) return {};
  cholesky_solve(matrix, static_cast<int>(count), step);
  std::vector<double> there = logarithms_;
  for (std::size_t p = 0; p < count; ++p) {
    there[p] += std::clamp(step[p], -kFarthest, kFarthest);
    there[p] = std::clamp(there[p], standards_[p] - kBound, standards_[p] + kBound);
  }
  return there;
}

void TwinFit::fit(const EpisodePieces& pieces, ThreadPool& pool) {
  TwinError now = error(pieces, logarithms_, /*derivative=*/true, pool);
  for (int i = 0; i < kTries && std::isfinite(now.mean_square); ++i) {
    const std::vector<double> there = try_step(now);
    if (there.empty()) return;
    TwinError then = error(pieces, there, /*derivative=*/true, pool);
    const double before = objective(now, logarithms_);
    const double after = objective(then, there);
    if (!(after < before) || then.lost > now.lost) {
      damping_ = std::min(10.0 * damping_, kMostDamping);
      continue;
    }
    damping_ = std::max(0.1 * damping_, kLeastDamping);
    logarithms_ = there;
    now = std::move(then);
    if (before - after < kEnough * before) return;
  }
}

template <class Real>
void TwinFit::learn(const Batch<Real>& batch, int window, ThreadPool& pool, IterationReport& report) {
  // What MuJoCo measures is no part of how the robot moves.
  const auto take = [&](int length, int most) {
    EpisodePieces pieces = take_pieces(batch, length, most);
    const Robot* const robot = twin_->find_robot();
    if (robot != nullptr) std::fill_n(pieces.scales.begin() + first_measured(*robot), robot->measured.size(), 0.0);
    return pieces;
  };
  const EpisodePieces steps = take(1, kSteps);
  if (steps.count == 0) return;
  if (has_parameters()) fit(steps, pool);
  const auto root_mean_square = [&](const EpisodePieces& pieces) {
    return std::sqrt(error(pieces, logarithms_, /*derivative=*/false, pool).mean_square);
  };
  report.twin_error = root_mean_square(steps);
  const EpisodePieces windows = take(window, kWindows);
  if (windows.count > 0) report.twin_window_error = root_mean_square(windows);
  const std::vector<double> values = parameters();
  for (std::size_t p = 0; p < values.size(); ++p)
    report.twin_parameters.emplace_back(twin_->parameters()[p].name, values[p]);
}

void TwinFit::save(Tensors& tensors) const {
  if (!has_parameters()) return;
  tensors.put("twin.parameters", std::span<const double>(logarithms_));
  tensors.put("twin.damping", damping_);
}

// A checkpoint of before there were fits, or of another engine, has none.
void TwinFit::load(const Tensors& tensors) {
  logarithms_ = standards_;
  damping_ = kFirstDamping;
  if (!has_parameters() || !tensors.contains("twin.parameters")) return;
  std::vector<double> values = tensors.numbers("twin.parameters");
  if (values.size() != standards_.size()) return;
  logarithms_ = std::move(values);
  damping_ = tensors.number("twin.damping");
}

std::int64_t TwinFit::bytes(const Task& twin, int window) {
  const TaskSpec& spec = twin.spec();
  const auto count = static_cast<int>(twin.parameters().size());
  const auto pieces = [&](int steps, int most) {
    return static_cast<std::int64_t>(2 * RowStore<double>::bytes(spec.states, most) +
                                     RowStore<double>::bytes(steps * spec.actions, most));
  };
  return pieces(1, kSteps) + pieces(window, kWindows) +
         kParts * static_cast<std::int64_t>(RowStore<double>::bytes((2 + 2 * count) * spec.states + count, kLanes));
}

template EpisodePieces take_pieces(const Batch<float>&, int, int);
template EpisodePieces take_pieces(const Batch<double>&, int, int);
template void TwinFit::learn(const Batch<float>&, int, ThreadPool&, IterationReport&);
template void TwinFit::learn(const Batch<double>&, int, ThreadPool&, IterationReport&);

}  // namespace cgpo
