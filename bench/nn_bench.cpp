// Speed of src/nn beside the core's multiply-add peak. "FLOPS" counts a multiply-add as two operations.
#include <benchmark/benchmark.h>

#include "cgpo/base/random.hpp"
#include "cgpo/nn/critic.hpp"
#include "cgpo/nn/dense.hpp"
#include "cgpo/nn/policy.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cgpo {
namespace {

using benchmark::Counter;

void count_operations(benchmark::State& state, double operations) {
  state.counters["FLOPS"] = Counter(operations, Counter::kIsIterationInvariantRate, Counter::kIs1000);
}

template <class Real>
RowStore<Real> random_rows(int rows, int columns) {
  RandomStream stream(1, Purpose::kTest);
  RowStore<Real> store(rows, columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) store.view().row(r)[c] = static_cast<Real>(stream.normal());
  }
  return store;
}

#if defined(__x86_64__)
// Sixteen independent chains of fused multiply-adds in registers: what the other lines are measured against.
__attribute__((target("avx512f"))) void peak_avx512(benchmark::State& state) {
  if (best_isa() != Isa::kAvx512) return state.SkipWithError("no AVX-512 here");
  constexpr int kChains = 16, kRounds = 1000;
  __m512 sum[kChains];
  for (auto& s : sum) s = _mm512_set1_ps(1.0f);
  __m512 factor = _mm512_set1_ps(0.9f);
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      asm volatile("" : "+v"(factor));
      for (int c = 0; c < kChains; ++c) sum[c] = _mm512_fmadd_ps(sum[c], factor, factor);
    }
  }
  for (auto& s : sum) benchmark::DoNotOptimize(s);
  count_operations(state, 2.0 * 16 * kChains * kRounds);
}
BENCHMARK(peak_avx512);
#endif

struct LayerSize {
  int outputs = 64, inputs = 64, samples = 512;
  double operations() const { return 2.0 * outputs * inputs * samples; }
};

// Argument: 0 baseline, 1 AVX2, 2 AVX-512.
bool missing(benchmark::State& state, Isa* isa) {
  *isa = static_cast<Isa>(state.range(0));
  state.SetLabel(isa_name(*isa));
  if (*isa > best_isa()) state.SkipWithError("not on this CPU");
  return *isa > best_isa();
}

template <class Real>
void affine(benchmark::State& state) {
  Isa isa;
  if (missing(state, &isa)) return;
  const LayerSize n;
  const auto w = random_rows<Real>(n.outputs, n.inputs);
  const auto x = random_rows<Real>(n.inputs, n.samples);
  RowStore<Real> y(n.outputs, n.samples);
  for (auto _ : state) {
    dense::kernels<Real>(isa).affine(w.view().data, w.view().stride, w.view().data, x.view(), y.view(), n.outputs,
                                     n.inputs, n.samples);
    benchmark::ClobberMemory();
  }
  count_operations(state, n.operations());
}
BENCHMARK(affine<float>)->DenseRange(0, 2);
BENCHMARK(affine<double>)->DenseRange(0, 2);

template <class Real>
void affine_transposed(benchmark::State& state) {
  Isa isa;
  if (missing(state, &isa)) return;
  const LayerSize n;
  const auto w = random_rows<Real>(n.outputs, n.inputs);
  const auto dy = random_rows<Real>(n.outputs, n.samples);
  RowStore<Real> dx(n.inputs, n.samples);
  for (auto _ : state) {
    dense::kernels<Real>(isa).affine_transposed(w.view().data, w.view().stride, dy.view(), dx.view(), n.outputs,
                                                n.inputs, n.samples, false);
    benchmark::ClobberMemory();
  }
  count_operations(state, n.operations());
}
BENCHMARK(affine_transposed<float>)->DenseRange(0, 2);

template <class Real>
void outer_accumulate(benchmark::State& state) {
  Isa isa;
  if (missing(state, &isa)) return;
  const LayerSize n;
  const auto dy = random_rows<Real>(n.outputs, n.samples);
  const auto x = random_rows<Real>(n.inputs, n.samples);
  std::vector<double> dw(n.outputs * n.inputs), db(n.outputs);
  for (auto _ : state) {
    dense::kernels<Real>(isa).outer_accumulate(dy.view(), x.view(), dw.data(), db.data(), n.outputs, n.inputs,
                                               n.samples);
    benchmark::ClobberMemory();
  }
  count_operations(state, n.operations());
}
BENCHMARK(outer_accumulate<float>)->DenseRange(0, 2);
BENCHMARK(outer_accumulate<double>)->DenseRange(0, 2);

template <class Real>
void tanh_rows(benchmark::State& state) {
  Isa isa;
  if (missing(state, &isa)) return;
  RowStore<Real> h = random_rows<Real>(64, 512);
  for (auto _ : state) {
    dense::kernels<Real>(isa).tanh_rows(h.view(), 64, 512);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 64 * 512);
}
BENCHMARK(tanh_rows<float>)->DenseRange(0, 2);
BENCHMARK(tanh_rows<double>)->DenseRange(0, 2);

// The critic of an iteration: 256 steps of 512 samples out of 76 800 on a 64-64 network. Argument: observations. The
// operations are those of the products alone: forward, weight gradient, and adjoints of all layers but the first.
void critic_fit(benchmark::State& state) {
  const int observations = static_cast<int>(state.range(0));
  const int horizon = 300, environments = 256;
  Critic<float> critic(observations, {64, 64}, horizon);
  critic.initialise(1, 0);
  SampleTable<float> table;
  table.resize(observations + 1, horizon * environments);
  std::vector<float> targets(horizon * environments);
  const auto x = random_rows<float>(observations, environments);
  for (int t = 0; t < horizon; ++t) {
    table.write(t * environments, x.view(), environments, critic.time_feature(t));
    for (int j = 0; j < environments; ++j) targets[t * environments + j] = x.view().row(0)[j] * critic.time_feature(t);
  }
  CriticWorkspace<float> workspace(critic.mlp(), 512);
  const FitOptions options;
  std::uint32_t iteration = 0;
  for (auto _ : state) {
    const FitReport report = critic.fit({table, targets}, options, {1, iteration++, 0}, workspace);
    benchmark::DoNotOptimize(report.loss);
  }
  const double first = (observations + 1) * 64.0, others = 64.0 * 64.0 + 64.0;
  count_operations(state, 2.0 * (2 * first + 3 * others) * options.batch * options.steps);
}
BENCHMARK(critic_fit)->Arg(2)->Arg(5)->Arg(11)->Arg(28)->Unit(benchmark::kMillisecond);

// A policy's share of one step of 256 environments: forward, two seeds backward to the observation, and their weight
// gradients. Argument: observations.
void policy_step(benchmark::State& state) {
  const int observations = static_cast<int>(state.range(0)), actions = 8, samples = 256;
  const Policy<float> policy(observations, {64, 64}, actions, false);
  std::vector<float> parameters(policy.parameter_count());
  policy.initialise(parameters, 1, 0.1);
  const auto x = random_rows<float>(observations, samples);
  const auto noise = random_rows<float>(actions, samples);
  RowStore<float> units(policy.unit_count(), samples), action(actions, samples), dx(observations, samples);
  RowStore<float> deltas[2] = {{policy.unit_count(), samples}, {policy.unit_count(), samples}};
  std::vector<double> gradient(policy.parameter_count());
  for (auto _ : state) {
    policy.forward(parameters, x.view(), noise.view(), units.view(), action.view(), samples);
    for (auto& seed : deltas) {
      policy.backward(parameters, units.view(), action.view(), noise.view(), seed.view(), samples, {dx.view()});
      policy.accumulate_gradient(parameters, x.view(), noise.view(), units.view(), seed.view(), gradient, samples);
    }
    benchmark::ClobberMemory();
  }
  const double weights = observations * 64.0 + 64.0 * 64.0 + 64.0 * actions;
  count_operations(state, 2.0 * 5 * weights * samples);
  state.SetItemsProcessed(state.iterations() * samples);
}
BENCHMARK(policy_step)->Arg(4)->Arg(28);

}  // namespace
}  // namespace cgpo

BENCHMARK_MAIN();
