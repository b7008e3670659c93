// Random expressions fixed at compile time, as templates over the scalar: traced they are the interpreter's program,
// run on plain floats in a loop they are the same expression written by hand.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "cgpo/base/vectorise.hpp"

namespace cgpo::bench {

enum class Kind { kMultiplyAdd, kAdd, kSubtract, kMultiply, kDivide, kSquareRoot, kSine, kTanh, kSelect };

struct Line {
  Kind kind = Kind::kAdd;
  int a = 0;
  int b = 0;
  int c = 0;
};

constexpr int kInputs = 8;
constexpr int kOutputs = 4;

// With transcendentals: one operation in sixteen is a sine or a tanh, about what a robot's step has.
template <int Count>
constexpr std::array<Line, Count> random_code(std::uint64_t seed, bool transcendentals) {
  std::array<Line, Count> code{};
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
  const auto below = [&state](std::uint64_t count) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33) % count);
  };
  for (int i = 0; i < Count; ++i) {
    const int known = kInputs + i;
    const int reach = known < 24 ? known : 24;
    Line& line = code[static_cast<std::size_t>(i)];
    const int draw = below(32);
    line.kind = draw < 12   ? Kind::kMultiplyAdd
                : draw < 18 ? Kind::kAdd
                : draw < 22 ? Kind::kSubtract
                : draw < 27 ? Kind::kMultiply
                : draw < 28 ? Kind::kDivide
                : draw < 29 ? Kind::kSquareRoot
                : draw < 30 ? Kind::kSelect
                            : (transcendentals ? (draw == 30 ? Kind::kSine : Kind::kTanh) : Kind::kMultiplyAdd);
    line.a = known - 1 - below(static_cast<std::uint64_t>(reach));
    line.b = known - 1 - below(static_cast<std::uint64_t>(reach));
    line.c = known - 1 - below(static_cast<std::uint64_t>(reach));
  }
  return code;
}

template <int Count, std::uint64_t Seed, bool Transcendentals>
struct RandomExpression {
  static constexpr std::array<Line, Count> kCode = random_code<Count>(Seed, Transcendentals);

  // Math supplies sin, tanh, sqrt, fma and select for S. Values stay near 1: every result is scaled back.
  template <class S, class Math>
  [[gnu::always_inline]] static void run(const S* x, S* y) {
    S v[kInputs + Count];
    for (int i = 0; i < kInputs; ++i) v[i] = x[i];
    run_lines<S, Math>(v, std::make_index_sequence<Count>());
    for (int i = 0; i < kOutputs; ++i) y[i] = v[kInputs + Count - 1 - i];
  }

  // The same, one loop over an array for every line, as one writes it without a compiler for expressions.
  // v[i] are rows of at least `Lanes` values; the inputs are in the first ones.
  template <class Math, int Lanes, class Row>
  [[gnu::always_inline]] static void run_arrays(Row* v) {
    run_array_lines<Math, Lanes>(v, std::make_index_sequence<Count>());
  }

 private:
  template <class Math, int Lanes, class Row, std::size_t... I>
  [[gnu::always_inline]] static void run_array_lines(Row* v, std::index_sequence<I...>) {
    (array_line<Math, Lanes, I>(v), ...);
  }

  template <class Math, int Lanes, std::size_t I, class Row>
  [[gnu::noinline]] static void array_line(Row* v) {
    constexpr Line kLine = kCode[I];
    const auto& a = v[kLine.a];
    const auto& b = v[kLine.b];
    const auto& c = v[kLine.c];
    auto& y = v[kInputs + I];
    CGPO_INDEPENDENT
    for (int l = 0; l < Lanes; ++l) {
      using S = std::remove_cvref_t<decltype(y[0])>;
      if constexpr (kLine.kind == Kind::kMultiplyAdd) y[l] = Math::fma(a[l], S(0.5), b[l]);
      if constexpr (kLine.kind == Kind::kAdd) y[l] = a[l] + c[l];
      if constexpr (kLine.kind == Kind::kSubtract) y[l] = a[l] - b[l];
      if constexpr (kLine.kind == Kind::kMultiply) y[l] = a[l] * S(0.75);
      if constexpr (kLine.kind == Kind::kDivide) y[l] = a[l] / (S(1.5) + b[l] * b[l]);
      if constexpr (kLine.kind == Kind::kSquareRoot) y[l] = Math::sqrt(S(1.0) + a[l] * a[l]);
      if constexpr (kLine.kind == Kind::kSine) y[l] = Math::sin(a[l]);
      if constexpr (kLine.kind == Kind::kTanh) y[l] = Math::tanh(a[l]);
      if constexpr (kLine.kind == Kind::kSelect) y[l] = Math::select(a[l] < b[l], c[l], a[l]);
    }
  }

  template <class S, class Math, std::size_t... I>
  [[gnu::always_inline]] static void run_lines(S* v, std::index_sequence<I...>) {
    ((v[kInputs + I] = line<S, Math, I>(v)), ...);
  }

  template <class S, class Math, std::size_t I>
  [[gnu::always_inline]] static S line(const S* v) {
    constexpr Line kLine = kCode[I];
    const S& a = v[kLine.a];
    const S& b = v[kLine.b];
    const S& c = v[kLine.c];
    if constexpr (kLine.kind == Kind::kMultiplyAdd) return Math::fma(a, S(0.5), b);
    if constexpr (kLine.kind == Kind::kAdd) return a + c;
    if constexpr (kLine.kind == Kind::kSubtract) return a - b;
    if constexpr (kLine.kind == Kind::kMultiply) return a * S(0.75);
    if constexpr (kLine.kind == Kind::kDivide) return a / (S(1.5) + b * b);
    if constexpr (kLine.kind == Kind::kSquareRoot) return Math::sqrt(S(1.0) + a * a);
    if constexpr (kLine.kind == Kind::kSine) return Math::sin(a);
    if constexpr (kLine.kind == Kind::kTanh) return Math::tanh(a);
    if constexpr (kLine.kind == Kind::kSelect) return Math::select(a < b, c, a);
  }
};

using Arithmetic = RandomExpression<240, 1, false>;
using WithFunctions = RandomExpression<240, 2, true>;

}  // namespace cgpo::bench
