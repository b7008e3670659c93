#include "cgpo/updates/natural_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/base/numbers.hpp"
#include "cgpo/base/sum_over_blocks.hpp"
#include "cgpo/updates/surrogate.hpp"

namespace cgpo {
namespace {

constexpr int kStatesAtOnce = 512;
constexpr double kShorter = 0.8;

}  // namespace

FisherMatrix::FisherMatrix(const Policy<float>& policy, int states, double damping)
    : policy_(policy), states_(states), damping_(damping), inverse_variance_(at(policy.actions())) {}

void FisherMatrix::rebuild(const PolicySamples& samples, std::uint64_t seed, int iteration, ThreadPool& pool) {
  const std::span<const std::uint32_t> all = samples.all();
  count_ = std::min(states_, samples.count());
  used_ = (count_ + kStatesAtOnce - 1) / kStatesAtOnce;
  if (static_cast<int>(pieces_.size()) < used_) pieces_.resize(at(used_));
  parameters_ = samples.behaviour();
  for (int a = 0; a < policy_.actions(); ++a)
    inverse_variance_[at(a)] = std::exp(-2.0 * static_cast<double>(parameters_[at(policy_.log_std_offset() + a)]));

  RandomStream random(seed, Purpose::kMetric, static_cast<std::uint32_t>(iteration));
  const std::uint64_t first = random.below(static_cast<std::uint32_t>(all.size()));
  std::vector<std::uint32_t> drawn;
  for (std::uint64_t i = 0; i < at(count_); ++i)
    drawn.push_back(all[(first + i * all.size() / at(count_)) % all.size()]);
  pool.run(used_, [&](int p) {
    Piece& piece = pieces_[at(p)];
    piece.count = std::min(kStatesAtOnce, count_ - p * kStatesAtOnce);
    const Rows<const float> inputs = samples.inputs_of(
        std::span<const std::uint32_t>(drawn).subspan(at(p) * kStatesAtOnce, at(piece.count)), piece.inputs);
    for (RowStore<float>* store : {&piece.units, &piece.tangents, &piece.part}) {
      if (store->rows() == 0) store->resize(policy_.unit_count(), kStatesAtOnce);
    }
    piece.product.resize(at(policy_.parameter_count()));
    policy_.mlp().forward(std::span<const float>(parameters_).first(at(policy_.mlp().parameter_count())), inputs,
                          piece.units.view(), piece.count);
  });
}

void FisherMatrix::multiply(std::span<const double> v, std::span<double> result, ThreadPool& pool) {
  const Mlp<float>& mlp = policy_.mlp();
  const AlignedVector<float> direction(v.begin(), v.end());
  const std::span<const float> weights = std::span<const float>(parameters_).first(at(mlp.parameter_count()));
  pool.run(used_, [&](int p) {
    Piece& piece = pieces_[at(p)];
    std::fill(piece.product.begin(), piece.product.end(), 0.0);
    // J v in the output's rows, then Jᵀ of it over the variance; the rows of the tangents become those of the adjoints.
    mlp.push_forward(weights, direction, std::as_const(piece.inputs).view(), std::as_const(piece.units).view(),
                     piece.tangents.view(), piece.part.view(), piece.count);
    for (int a = 0; a < policy_.actions(); ++a) {
      float* const row = piece.tangents.view().row(mlp.output_offset() + a);
      const auto scale = static_cast<float>(inverse_variance_[at(a)]);
      for (int j = 0; j < piece.count; ++j) row[j] *= scale;
    }
    mlp.backward(weights, std::as_const(piece.units).view(), piece.tangents.view(), piece.count);
    mlp.accumulate_gradient(std::as_const(piece.inputs).view(), std::as_const(piece.units).view(),
                            std::as_const(piece.tangents).view(),
                            std::span(piece.product).first(at(mlp.parameter_count())), piece.count);
  });
  sum_over_blocks(
      at(used_), [this](std::size_t p) -> const auto& { return pieces_[p].product; }, result);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = result[i] / count_ + damping_ * v[i];
  for (int a = 0; a < policy_.actions(); ++a) {
    const std::size_t i = at(policy_.log_std_offset() + a);
    result[i] = policy_.learns_std() ? (2.0 + damping_) * v[i] : v[i];
  }
}

std::vector<double> conjugate_gradients(const LinearMap& multiply, std::span<const double> b, int steps,
                                        double tolerance) {
  std::vector<double> x(b.size(), 0.0);
  const double size = std::sqrt(dot(b, b));
  if (!(size > 0.0) || !std::isfinite(size)) return x;
  std::vector<double> residual(b.begin(), b.end());
  for (double& value : residual) value /= size;
  std::vector<double> direction = residual;
  std::vector<double> product(b.size());
  double squared = 1.0;
  for (int step = 0; step < steps && squared > tolerance * tolerance; ++step) {
    multiply(direction, product);
    const double curvature = dot(direction, product);
    if (!(curvature > 0.0)) break;  // only rounding can do this
    const double length = squared / curvature;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += length * direction[i];
      residual[i] -= length * product[i];
    }
    const double next = dot(residual, residual);
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = residual[i] + next / squared * direction[i];
    squared = next;
  }
  for (double& value : x) value *= size;
  return x;
}

std::vector<double> surrogate_gradient(OnPolicy& machine, const std::vector<double>& coefficients) {
  std::vector<double> gradient(at(machine.parts.policy.parameter_count()));
  machine.samples.gradient(machine.parts.parameters, machine.samples.all(), weighted_sum(coefficients),
                           machine.settings().update.entropy * coefficients[0], {}, machine.pool(), gradient);
  return gradient;
}

bool backtrack(OnPolicy& machine, std::span<const double> step, int tries, IterationReport& report,
               const std::function<bool(const PolicySamples::Surrogates& now)>& accepts) {
  AlignedVector<float>& parameters = machine.parts.parameters;
  const std::vector<float>& begin = machine.samples.behaviour();
  double share = 1.0;
  for (int j = 0; j < tries; ++j, share *= kShorter) {
    for (std::size_t p = 0; p < step.size(); ++p)
      parameters[p] = static_cast<float>(static_cast<double>(begin[p]) + share * step[p]);
    const PolicySamples::Surrogates now = machine.samples.evaluate(parameters, machine.pool());
    const bool finite = std::isfinite(now.kl) && std::all_of(now.means.begin(), now.means.end(),
                                                             [](double mean) { return std::isfinite(mean); });
    if (!finite || !accepts(now)) continue;
    report.kl = now.kl;
    return true;
  }
  std::copy(begin.begin(), begin.end(), parameters.begin());
  report.kl = 0.0;
  return false;
}

NaturalStep::NaturalStep(const OnPolicy& machine)
    : fisher_(machine.parts.policy, machine.settings().update.states, machine.settings().update.damping) {}

void NaturalStep::take(OnPolicy& machine, const std::vector<double>& coefficients, IterationReport& report) {
  const UpdateSettings& update = machine.settings().update;
  const std::vector<double> gradient = surrogate_gradient(machine, coefficients);
  fisher_.rebuild(machine.samples, machine.parts.context.seed, machine.iteration(), machine.pool());
  std::vector<double> step = conjugate_gradients(
      [&](std::span<const double> v, std::span<double> result) { fisher_.multiply(v, result, machine.pool()); },
      gradient, update.conjugate);
  const double squared = dot(gradient, step);
  if (!std::isfinite(squared)) {
    report.update_case = "refused";
    report.warning = "update refused: a gradient is not finite";
    return;
  }
  if (!(squared > 0.0)) {
    report.update_case = "none";
    return;
  }
  for (double& value : step) value *= std::sqrt(2.0 * update.kl / squared);
  const auto total = [&](const PolicySamples::Surrogates& now) {
    return std::inner_product(coefficients.begin(), coefficients.end(), now.means.begin(), 0.0);
  };
  const double before = total(machine.samples.evaluate(machine.parts.parameters, machine.pool()));
  const bool taken = backtrack(machine, step, update.backtracks, report, [&](const PolicySamples::Surrogates& now) {
    return now.kl <= update.kl && total(now) >= before;
  });
  report.update_case = taken ? "taken" : "none";
}

}  // namespace cgpo
