// The interpreter beside the same expression written by hand, over the same arrays, with the same instruction set.
#include <benchmark/benchmark.h>
#include <string>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/graph/lower.hpp"
#include "cgpo/graph/traced.hpp"
#include "cgpo/kernel/interpreter/interpreter.hpp"

#include "random_expression.hpp"

namespace cgpo::bench {

#define CGPO_DECLARE(isa)                                                                   \
  namespace isa {                                                                           \
  void arithmetic(const float* const* inputs, float* const* outputs, int lanes);            \
  void with_functions(const float* const* inputs, float* const* outputs, int lanes);        \
  void arithmetic_arrays(const float* const* inputs, float* const* outputs, int lanes);     \
  void with_functions_arrays(const float* const* inputs, float* const* outputs, int lanes); \
  }
CGPO_DECLARE(baseline)
#ifdef CGPO_X86
CGPO_DECLARE(avx2)
CGPO_DECLARE(avx512)
#endif
#undef CGPO_DECLARE

namespace {

struct TracedMath {
  static Traced fma(const Traced& a, const Traced& b, const Traced& c) { return make(Op::kFma, a, b, c); }
  static Traced sqrt(const Traced& a) { return Traced::make(Op::kSqrt, a); }
  static Traced sin(const Traced& a) { return Traced::make(Op::kSin, a); }
  static Traced tanh(const Traced& a) { return Traced::make(Op::kTanh, a); }
  static Traced select(const Traced& condition, const Traced& a, const Traced& b) {
    return make(Op::kSelect, condition, a, b);
  }

 private:
  static Traced make(Op op, const Traced& a, const Traced& b, const Traced& c) { return Traced::make(op, a, b, c); }
};

template <class Expression>
Graph trace() {
  Graph graph;
  const std::vector<Traced> x = trace_inputs(graph, kInputs);
  Traced y[kOutputs];
  Expression::template run<Traced, TracedMath>(x.data(), y);
  trace_outputs(graph, y);
  return graph;
}

struct Arrays {
  explicit Arrays(int lanes) : memory(static_cast<std::size_t>((kInputs + kOutputs) * lanes)) {
    RandomStream random(1, Purpose::kTest);
    for (float& value : memory) value = static_cast<float>(random.uniform(-1.0, 1.0));
    for (int i = 0; i < kInputs + kOutputs; ++i) rows.push_back(memory.data() + i * lanes);
  }
  const float* const* inputs() { return const_cast<const float* const*>(rows.data()); }
  float* const* outputs() { return rows.data() + kInputs; }
  std::vector<float> memory;
  std::vector<float*> rows;
};

using Function = void (*)(const float* const*, float* const*, int);

void run_handwritten(benchmark::State& state, Function function) {
  const int lanes = static_cast<int>(state.range(0));
  Arrays arrays(lanes);
  for (auto _ : state) {
    function(arrays.inputs(), arrays.outputs(), lanes);
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_lane"] = benchmark::Counter(static_cast<double>(state.iterations() * lanes) * 1e-9,
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void run_interpreter(benchmark::State& state, const Graph& graph, Isa isa) {
  const int lanes = static_cast<int>(state.range(0));
  Arrays arrays(lanes);
  const Interpreter<float> kernel(prepare(graph, Precision::kFloat), isa);
  KernelScratch scratch;
  for (auto _ : state) {
    kernel.run(arrays.inputs(), arrays.outputs(), lanes, scratch);
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_lane"] = benchmark::Counter(static_cast<double>(state.iterations() * lanes) * 1e-9,
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel(std::to_string(kernel.operations()) + " operations");
}

struct ByHand {
  Function fused;   // one loop, all operations in registers
  Function arrays;  // one loop an operation
};

void add(Isa isa, ByHand arithmetic, ByHand with_functions) {
  const std::string name = isa_name(isa);
  const auto both = [&](const std::string& expression, ByHand by_hand, const Graph& graph) {
    benchmark::RegisterBenchmark((expression + "/one_loop/" + name).c_str(),
                                 [=](benchmark::State& s) { run_handwritten(s, by_hand.fused); })
        ->Arg(32)
        ->Arg(128)
        ->Arg(1024);
    benchmark::RegisterBenchmark((expression + "/loop_an_operation/" + name).c_str(),
                                 [=](benchmark::State& s) { run_handwritten(s, by_hand.arrays); })
        ->Arg(128)
        ->Arg(1024);
    benchmark::RegisterBenchmark((expression + "/interpreter/" + name).c_str(),
                                 [=](benchmark::State& s) { run_interpreter(s, graph, isa); })
        ->Arg(32)
        ->Arg(128)
        ->Arg(1024);
  };
  both("arithmetic", arithmetic, trace<Arithmetic>());
  both("with_functions", with_functions, trace<WithFunctions>());
}

}  // namespace
}  // namespace cgpo::bench

int main(int argc, char** argv) {
  using namespace cgpo;
  using namespace cgpo::bench;
  add(Isa::kBaseline, {baseline::arithmetic, baseline::arithmetic_arrays},
      {baseline::with_functions, baseline::with_functions_arrays});
#ifdef CGPO_X86
  if (best_isa() >= Isa::kAvx2)
    add(Isa::kAvx2, {avx2::arithmetic, avx2::arithmetic_arrays}, {avx2::with_functions, avx2::with_functions_arrays});
  if (best_isa() >= Isa::kAvx512)
    add(Isa::kAvx512, {avx512::arithmetic, avx512::arithmetic_arrays},
        {avx512::with_functions, avx512::with_functions_arrays});
#endif
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
