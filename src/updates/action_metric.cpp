#include "cgpo/updates/action_metric.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/base/index.hpp"
#include "cgpo/nn/cholesky.hpp"
#include "cgpo/nn/dense.hpp"

namespace cgpo {
namespace {

// rows [count × samples] with the samples as rows, from row `first` of the result on, `step` apart.
void transpose(Rows<const float> rows, int count, int samples, Rows<float> result, int first, int step) {
  for (int s = 0; s < samples; ++s) {
    float* const to = result.row(first + std::ptrdiff_t{s} * step);
    for (int i = 0; i < count; ++i) to[i] = rows.row(i)[s];
  }
}

}  // namespace

ActionMetric::ActionMetric(const Policy<float>& policy, int rows, double damping)
    : policy_(policy),
      states_(std::max(1, rows / policy.actions())),
      damping_(damping),
      inputs_(policy.observations(), states_),
      units_(policy.unit_count(), states_),
      adjoints_(at(policy.actions()), RowStore<float>(policy.unit_count(), states_)) {
  const Mlp<float>& mlp = policy.mlp();
  const int rows_used = states_ * policy.actions();
  kernel_.resize(at(rows_used) * at(rows_used));
  adjoint_products_.resize(kernel_.size());
  input_products_.resize(at(states_) * at(states_));
  for (int layer = 0; layer < mlp.layers(); ++layer) {
    layer_adjoints_.emplace_back(rows_used, mlp.fan_out(layer));
    layer_inputs_.emplace_back(states_, mlp.fan_in(layer));
  }
}

void ActionMetric::sample_inputs(const Batch<float>& batch, std::span<const std::uint8_t> stops, std::uint64_t seed,
                                 int iteration) {
  // Environments in turn, so that all are heard; a random step of each one's episode.
  std::vector<std::pair<const TrajectoryBlock<float>*, int>> lanes;
  for_each_episode(batch, [&](const auto& block, int lane) { lanes.emplace_back(&block, lane); });
  if (lanes.empty()) return;  // the update will be refused
  RandomStream random(seed, Purpose::kMetric, static_cast<std::uint32_t>(iteration));
  const std::size_t first = random.below(static_cast<std::uint32_t>(lanes.size()));
  for (int s = 0; s < states_; ++s) {
    // A stride that visits the whole batch also when there are fewer samples than environments.
    const std::size_t chosen = (first + (at(s) * std::max<std::size_t>(1, lanes.size() / at(states_)))) % lanes.size();
    const auto& [block, lane] = lanes[chosen];
    // The next signal with every round over the environments, so that each is heard of all of them.
    const bool ends = stops[(at(s) + at(s) / lanes.size()) % stops.size()] != 0;
    const int length = ends ? std::min(block->length[at(lane)], block->simulated) : block->simulated;
    const int t = static_cast<int>(random.below(static_cast<std::uint32_t>(std::max(length, 1))));
    for (int i = 0; i < policy_.observations(); ++i)
      inputs_.view().row(i)[s] = block->inputs.view().row(i)[block->column(t) + lane];
  }
}

void ActionMetric::rebuild(const Batch<float>& batch, const Actor<float>& actor, std::span<const std::uint8_t> stops,
                           std::uint64_t seed, int iteration) {
  sample_inputs(batch, stops, seed, iteration);
  parameters_.assign(actor.parameters.begin(), actor.parameters.end());
  const int actions = policy_.actions();
  std_squared_.assign(at(actions), 0.0);
  for (int a = 0; a < actions; ++a)
    std_squared_[at(a)] = std::exp(2.0 * static_cast<double>(parameters_[at(policy_.log_std_offset() + a)]));

  const std::span<const float> weights(parameters_.data(), at(policy_.mlp().parameter_count()));
  policy_.mlp().forward(weights, std::as_const(inputs_).view(), units_.view(), states_);
  for (int a = 0; a < actions; ++a) {
    RowStore<float>& adjoint = adjoints_[at(a)];
    for (int other = 0; other < actions; ++other)
      std::fill_n(adjoint.view().row(policy_.mlp().output_offset() + other), states_, other == a ? 1.0F : 0.0F);
    policy_.mlp().backward(weights, std::as_const(units_).view(), adjoint.view(), states_);
  }
  factor_kernel();
}

void ActionMetric::factor_kernel() {
  const Mlp<float>& mlp = policy_.mlp();
  const int actions = policy_.actions();
  const int rows = states_ * actions;
  kernel_.assign(at(rows) * at(rows), 0.0);
  for (int layer = 0; layer < mlp.layers(); ++layer) {
    RowStore<float>& adjoints = layer_adjoints_[at(layer)];
    RowStore<float>& inputs = layer_inputs_[at(layer)];
    for (int a = 0; a < actions; ++a) {
      transpose(std::as_const(adjoints_[at(a)]).view().from_row(mlp.unit_offset(layer)), mlp.fan_out(layer), states_,
                adjoints.view(), a, actions);
    }
    const Rows<const float> below =
        layer == 0 ? std::as_const(inputs_).view() : std::as_const(units_).view().from_row(mlp.unit_offset(layer - 1));
    transpose(below, mlp.fan_in(layer), states_, inputs.view(), 0, 1);
    std::fill(adjoint_products_.begin(), adjoint_products_.end(), 0.0);
    std::fill(input_products_.begin(), input_products_.end(), 1.0);  // of the bias
    const auto products = [](const RowStore<float>& of, std::vector<double>& to, int count) {
      dense::outer_accumulate<float>(of.view(), of.view(), to.data(), nullptr, count, count,
                                     static_cast<int>(of.columns()));
    };
    products(adjoints, adjoint_products_, rows);
    products(inputs, input_products_, states_);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j <= i; ++j) {
        kernel_[at(std::ptrdiff_t{i} * rows + j)] +=
            adjoint_products_[at(std::ptrdiff_t{i} * rows + j)] *
            input_products_[at(std::ptrdiff_t{i / actions} * states_ + j / actions)];
      }
    }
  }
  double trace = 0.0;
  for (int i = 0; i < rows; ++i) trace += kernel_[at(std::ptrdiff_t{i} * rows + i)];
  epsilon_ = damping_ * trace / states_ / policy_.parameter_count();
  for (int i = 0; i < rows; ++i) kernel_[at(std::ptrdiff_t{i} * rows + i)] += epsilon_ * states_;
  check(cholesky_factor(kernel_, rows) || !std::isfinite(trace), "JJᵀ + εS is positive definite");
}

ActionMetric::Memory::Memory(const ActionMetric& metric)
    : direction(at(metric.policy_.parameter_count())),
      tangents(metric.policy_.unit_count(), metric.states_),
      part(metric.policy_.unit_count(), metric.states_),
      deltas(metric.policy_.unit_count(), metric.states_),
      moved(at(std::ptrdiff_t{metric.states_} * metric.policy_.actions())),
      seen(direction.size()) {}

void ActionMetric::times_jacobian(std::span<const double> v, Memory& memory) const {
  const Mlp<float>& mlp = policy_.mlp();
  std::copy(v.begin(), v.end(), memory.direction.begin());
  RowStore<float>& tangents = memory.tangents;
  mlp.push_forward(std::span<const float>(parameters_).first(at(mlp.parameter_count())), memory.direction,
                   inputs_.view(), units_.view(), tangents.view(), memory.part.view(), states_);
  for (int s = 0; s < states_; ++s) {
    for (int a = 0; a < policy_.actions(); ++a)
      memory.moved[at(std::ptrdiff_t{s} * policy_.actions() + a)] = tangents.view().row(mlp.output_offset() + a)[s];
  }
}

void ActionMetric::times_transposed(Memory& memory) const {
  const Mlp<float>& mlp = policy_.mlp();
  RowStore<float>& deltas = memory.deltas;
  for (int s = 0; s < states_; ++s) {
    for (int a = 0; a < policy_.actions(); ++a) {
      deltas.view().row(mlp.output_offset() + a)[s] =
          static_cast<float>(memory.moved[at(std::ptrdiff_t{s} * policy_.actions() + a)]);
    }
  }
  const std::span<const float> parameters(parameters_.data(), at(mlp.parameter_count()));
  mlp.backward(parameters, units_.view(), deltas.view(), states_);
  std::fill(memory.seen.begin(), memory.seen.end(), 0.0);
  mlp.accumulate_gradient(inputs_.view(), units_.view(), std::as_const(deltas).view(),
                          std::span(memory.seen).first(at(mlp.parameter_count())), states_);
}

void ActionMetric::solve(std::span<const double> v, std::span<double> result, Memory& memory) const {
  times_jacobian(v, memory);
  cholesky_solve(kernel_, states_ * policy_.actions(), memory.moved);
  times_transposed(memory);
  for (std::size_t p = 0; p < v.size(); ++p) result[p] = (v[p] - memory.seen[p]) / epsilon_;
  for (int a = 0; a < policy_.actions(); ++a) {
    const std::size_t p = at(policy_.log_std_offset() + a);
    result[p] = v[p] / (std_squared_[at(a)] + epsilon_);
  }
}

std::vector<double> ActionMetric::solve(std::span<const double> v) const {
  std::vector<double> result(v.size());
  Memory memory(*this);
  solve(v, result, memory);
  return result;
}

double ActionMetric::length_squared(std::span<const double> delta) const {
  double sum = 0.0;
  Memory memory(*this);
  times_jacobian(delta, memory);
  for (const double moved : memory.moved) sum += moved * moved;
  sum /= states_;
  for (const double value : delta) sum += epsilon_ * value * value;
  for (int a = 0; a < policy_.actions(); ++a) {
    const double value = delta[at(policy_.log_std_offset() + a)];
    sum += std_squared_[at(a)] * value * value;
  }
  return sum;
}

std::vector<std::uint8_t> stops_of(const Simulator<float>& simulator, std::span<const std::size_t> signals) {
  std::vector<std::uint8_t> result;
  for (const std::size_t k : signals) result.push_back(simulator.stops_at_end(static_cast<int>(k)) ? 1 : 0);
  return result;
}

}  // namespace cgpo
