// The random expressions as plain loops over the same arrays, compiled for each instruction set.
#include <algorithm>
#include <cmath>

#include "cgpo/base/vectorise.hpp"
#include "cgpo/math/elementary.hpp"

#include "random_expression.hpp"

namespace cgpo::bench::CGPO_ISA {
namespace {

struct FloatMath {
  [[gnu::always_inline]] static float fma(float a, float b, float c) { return std::fma(a, b, c); }
  [[gnu::always_inline]] static float sqrt(float a) { return std::sqrt(a); }
  [[gnu::always_inline]] static float sin(float a) { return elementary::sin<float>(a); }
  [[gnu::always_inline]] static float tanh(float a) { return elementary::tanh<float>(a); }
  [[gnu::always_inline]] static float select(bool condition, float a, float b) { return condition ? a : b; }
};

template <class Expression>
void run(const float* const* inputs, float* const* outputs, int lanes) {
  const float* x0 = inputs[0];
  const float* x1 = inputs[1];
  const float* x2 = inputs[2];
  const float* x3 = inputs[3];
  const float* x4 = inputs[4];
  const float* x5 = inputs[5];
  const float* x6 = inputs[6];
  const float* x7 = inputs[7];
  float* y0 = outputs[0];
  float* y1 = outputs[1];
  float* y2 = outputs[2];
  float* y3 = outputs[3];
  CGPO_INDEPENDENT
  for (int l = 0; l < lanes; ++l) {
    const float x[kInputs] = {x0[l], x1[l], x2[l], x3[l], x4[l], x5[l], x6[l], x7[l]};
    float y[kOutputs];
    Expression::template run<float, FloatMath>(x, y);
    y0[l] = y[0];
    y1[l] = y[1];
    y2[l] = y[2];
    y3[l] = y[3];
  }
}

// One loop an operation, in blocks of lanes that stay in the cache.
template <class Expression>
void run_arrays(const float* const* inputs, float* const* outputs, int lanes) {
  constexpr int kBlock = 128;
  constexpr int kValues = kInputs + static_cast<int>(Expression::kCode.size());
  struct alignas(64) Row {
    float values[kBlock + 16];
    float& operator[](int l) { return values[l]; }
    float operator[](int l) const { return values[l]; }
  };
  static thread_local Row v[kValues];
  for (int begin = 0; begin < lanes; begin += kBlock) {
    for (int i = 0; i < kInputs; ++i) std::copy_n(inputs[i] + begin, kBlock, v[i].values);
    Expression::template run_arrays<FloatMath, kBlock>(v);
    for (int i = 0; i < kOutputs; ++i) std::copy_n(v[kValues - 1 - i].values, kBlock, outputs[i] + begin);
  }
}

}  // namespace

void arithmetic_arrays(const float* const* inputs, float* const* outputs, int lanes);
void with_functions_arrays(const float* const* inputs, float* const* outputs, int lanes);
void arithmetic_arrays(const float* const* inputs, float* const* outputs, int lanes) {
  run_arrays<Arithmetic>(inputs, outputs, lanes);
}
void with_functions_arrays(const float* const* inputs, float* const* outputs, int lanes) {
  run_arrays<WithFunctions>(inputs, outputs, lanes);
}

void arithmetic(const float* const* inputs, float* const* outputs, int lanes);
void with_functions(const float* const* inputs, float* const* outputs, int lanes);
void arithmetic(const float* const* inputs, float* const* outputs, int lanes) {
  run<Arithmetic>(inputs, outputs, lanes);
}
void with_functions(const float* const* inputs, float* const* outputs, int lanes) {
  run<WithFunctions>(inputs, outputs, lanes);
}

}  // namespace cgpo::bench::CGPO_ISA
