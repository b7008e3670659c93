// Programs drawn at random, as templates over the scalar: run with numbers they are the naive answer, run with traced
// scalars they are a graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/graph/traced.hpp"

namespace cgpo::testing {

enum class Flavour {
  kSmooth,  // values and slopes stay moderate, no kinks: for differences
  kKinks,   // the same with min, max, abs and select among them
  kWild,    // plain operations on anything, constants 0, −0, 1, −1, ∞ and NaN among them: for exact comparison
};

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, int inputs, int operations, int outputs, Flavour flavour)
      : inputs_(inputs), outputs_(outputs), flavour_(flavour) {
    RandomStream random(seed, Purpose::kTest);
    for (int i = 0; i < operations; ++i) {
      const int known = inputs + i;
      const auto pick = [&] {  // mostly recent values, so that programs are deep
        const int reach = random.bits() % 4 == 0 ? known : std::min(known, 12);
        return known - 1 - static_cast<int>(random.below(static_cast<std::uint32_t>(reach)));
      };
      const int a = pick();
      const int b = pick();
      const int c = pick();
      code_.push_back({random.bits(), a, b, c, random.uniform(-1.5, 1.5)});
    }
  }

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

  template <class S>
  std::vector<S> run(std::span<const S> x) const {
    std::vector<S> v(x.begin(), x.end());
    for (const Line& line : code_) {
      v.push_back(apply<S>(line, v[static_cast<std::size_t>(line.a)], v[static_cast<std::size_t>(line.b)],
                           v[static_cast<std::size_t>(line.c)]));
    }
    return {v.end() - outputs_, v.end()};
  }

  Graph trace() const {
    Graph graph;
    const std::vector<Traced> x = trace_inputs(graph, inputs_);
    trace_outputs(graph, run<Traced>(std::span<const Traced>(x)));
    return graph;
  }

 private:
  struct Line {
    std::uint32_t choice;
    int a, b, c;
    double constant;
  };

  template <class S>
  S apply(const Line& line, const S& a, const S& b, const S& c) const {
    if (flavour_ == Flavour::kWild) return apply_wild<S>(line.choice, a, b, c);
    const std::uint32_t kinds = flavour_ == Flavour::kKinks ? 22 : 18;
    const S k(line.constant);
    switch (line.choice % kinds) {
      case 0: return a + k * b;
      case 1: return a - b;
      case 2: return sin(a * b);
      case 3: return a / (1.5 + b * b);
      case 4: return -a * k;
      case 5: return fma(k, b, c) * 0.5;
      case 6: return sqrt(1.0 + a * a) - 1.0;
      case 7: return rsqrt(0.5 + a * a);
      case 8: return reciprocal(2.0 + sin(a));
      case 9: return sin(a + b);
      case 10: return cos(a - k);
      case 11: return tan(0.5 * sin(a));
      case 12: return atan2(a, 1.5 + b * b);
      case 13: return exp(sin(a)) - 1.0;
      case 14: return log(1.5 + a * a);
      case 15: return tanh(a + k);
      case 16: return a * cos(b);
      case 17: return tanh(a) * tanh(b) + k * tanh(c);
      case 18: return min(a, b);
      case 19: return max(a, k);
      case 20: return abs(a) - 0.5;
      default: return select(a < b, sin(c), cos(b));
    }
  }

  template <class S>
  static S apply_wild(std::uint32_t choice, const S& a, const S& b, const S& c) {
    static constexpr double kConstants[] = {0.0,
                                            -0.0,
                                            1.0,
                                            -1.0,
                                            2.0,
                                            0.25,
                                            -8.0,
                                            1e300,
                                            std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
    const S k(kConstants[(choice >> 16) % 10]);
    switch (choice % 32) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * b;
      case 3: return a / b;
      case 4: return -a;
      case 5: return a + k;
      case 6: return k - a;
      case 7: return a - k;
      case 8: return a * k;
      case 9: return k * a;
      case 10: return a / k;
      case 11: return k / a;
      case 12: return a + -b;
      case 13: return a - -b;
      case 14: return -a + b;
      case 15: return -a * -b;
      case 16: return -a * b;
      case 17: return a * -b;
      case 18: return -(-a);
      case 19: return abs(-a);
      case 20: return abs(abs(a));
      case 21: return min(a, b);
      case 22: return max(a, b);
      case 23: return select(a < b, c, k);
      case 24: return select(a < a, b, b);
      case 25: return select(k == k, a, b);
      case 26: return sqrt(a);
      case 27: return floor(a);
      case 28: return select(a <= b, -c, c);
      case 29: return fma(a, b, c);
      case 30: return a - a;
      default: return a / a;
    }
  }

  int inputs_;
  int outputs_;
  Flavour flavour_;
  std::vector<Line> code_;
};

}  // namespace cgpo::testing
