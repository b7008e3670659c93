#include "cgpo/nn/dense.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

#include "batches.hpp"

namespace cgpo {
namespace {

struct Size {
  int outputs, inputs, samples;
};
const std::vector<Size> kSizes = {{1, 1, 1},   {1, 3, 5},    {2, 1, 17},   {3, 5, 16},    {4, 4, 15},     {5, 7, 31},
                                  {7, 9, 48},  {8, 2, 33},   {9, 17, 47},  {13, 29, 49},  {64, 29, 100},  {64, 64, 96},
                                  {1, 64, 97}, {31, 65, 63}, {17, 131, 5}, {6, 260, 130}, {10, 11, 1027}, {3, 0, 20}};

std::vector<Isa> isas() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= best_isa()) all.push_back(isa);
  }
  return all;
}

template <class Real>
class DenseTest : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DenseTest, Reals);

// A sum of n terms in Real is off by at most about n eps times the sum of their sizes.
template <class Real>
void expect_sum(Real got, double want, double sizes, int terms, const Size& size, Isa isa) {
  const double eps = std::numeric_limits<Real>::epsilon();
  ASSERT_NEAR(static_cast<double>(got), want, (terms + 2) * eps * sizes)
      << size.outputs << "x" << size.inputs << "x" << size.samples << " " << isa_name(isa);
}

TYPED_TEST(DenseTest, AffineIsTheTripleLoop) {
  using Real = TypeParam;
  for (const Isa isa : isas()) {
    for (const Size& n : kSizes) {
      const auto w = random_vector<Real>(n.outputs * n.inputs, 1);
      const auto b = random_vector<Real>(n.outputs, 2);
      const auto x = random_rows<Real>(n.inputs, n.samples + 1, 3);
      for (const bool with_bias : {false, true}) {
        // Off by one column: rows that do not start on a vector's boundary, and a guard column after the last.
        RowStore<Real> y = random_rows<Real>(n.outputs, n.samples + 2, 4);
        const RowStore<Real> before = y;
        dense::kernels<Real>(isa).affine(w.data(), n.inputs, with_bias ? b.data() : nullptr, x.view().from_column(1),
                                         y.view().from_column(1), n.outputs, n.inputs, n.samples);
        for (int o = 0; o < n.outputs; ++o) {
          for (int s = 0; s < n.samples; ++s) {
            double sum = with_bias ? static_cast<double>(b[o]) : 0.0;
            double sizes = std::abs(sum);
            for (int k = 0; k < n.inputs; ++k) {
              const double term =
                  static_cast<double>(w[o * n.inputs + k]) * static_cast<double>(x.view().row(k)[s + 1]);
              sum += term;
              sizes += std::abs(term);
            }
            expect_sum(y.view().row(o)[s + 1], sum, sizes, n.inputs, n, isa);
          }
          EXPECT_EQ(y.view().row(o)[0], before.view().row(o)[0]);
          EXPECT_EQ(y.view().row(o)[n.samples + 1], before.view().row(o)[n.samples + 1]);
        }
      }
    }
  }
}

TYPED_TEST(DenseTest, AffineTransposedIsTheTripleLoop) {
  using Real = TypeParam;
  for (const Isa isa : isas()) {
    for (const Size& n : kSizes) {
      const auto w = random_vector<Real>(n.outputs * n.inputs, 5);
      const auto dy = random_rows<Real>(n.outputs, n.samples, 6);
      const int wanted = n.inputs > 1 ? n.inputs - 1 : n.inputs;
      for (const bool add : {false, true}) {
        RowStore<Real> dx = random_rows<Real>(n.inputs, n.samples, 7);
        const RowStore<Real> before = dx;
        dense::kernels<Real>(isa).affine_transposed(w.data(), n.inputs, dy.view(), dx.view(), n.outputs, wanted,
                                                    n.samples, add);
        for (int i = 0; i < n.inputs; ++i) {
          for (int s = 0; s < n.samples; ++s) {
            double sum = add || i >= wanted ? static_cast<double>(before.view().row(i)[s]) : 0.0;
            double sizes = std::abs(sum);
            for (int o = 0; o < n.outputs && i < wanted; ++o) {
              const double term = static_cast<double>(w[o * n.inputs + i]) * static_cast<double>(dy.view().row(o)[s]);
              sum += term;
              sizes += std::abs(term);
            }
            expect_sum(dx.view().row(i)[s], sum, sizes, n.outputs, n, isa);
          }
        }
      }
    }
  }
}

TYPED_TEST(DenseTest, OuterAccumulateIsTheTripleLoop) {
  using Real = TypeParam;
  for (const Isa isa : isas()) {
    for (const Size& n : kSizes) {
      const auto x = random_rows<Real>(n.inputs, n.samples, 8);
      const auto dy = random_rows<Real>(n.outputs, n.samples + 3, 9);
      std::vector<double> dw = random_vector<double>(n.outputs * n.inputs, 10);
      std::vector<double> db = random_vector<double>(n.outputs, 11);
      const std::vector<double> dw_before = dw;
      const std::vector<double> db_before = db;
      dense::kernels<Real>(isa).outer_accumulate(dy.view().from_column(3), x.view(), dw.data(), db.data(), n.outputs,
                                                 n.inputs, n.samples);
      for (int o = 0; o < n.outputs; ++o) {
        for (int i = -1; i < n.inputs; ++i) {  // -1: the bias
          double sum = 0.0;
          double sizes = 0.0;
          for (int s = 0; s < n.samples; ++s) {
            const double right = i < 0 ? 1.0 : static_cast<double>(x.view().row(i)[s]);
            const double term = static_cast<double>(dy.view().row(o)[s + 3]) * right;
            sum += term;
            sizes += std::abs(term);
          }
          const double got = i < 0 ? db[o] - db_before[o] : dw[o * n.inputs + i] - dw_before[o * n.inputs + i];
          expect_sum(static_cast<Real>(got), sum, sizes + 1e-15 / std::numeric_limits<Real>::epsilon(), n.samples, n,
                     isa);
        }
      }
    }
  }
}

TYPED_TEST(DenseTest, TanhAndItsAdjoint) {
  using Real = TypeParam;
  const double tolerance = 8 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (const Isa isa : isas()) {
    for (const int samples : {1, 7, 16, 33, 100}) {
      RowStore<Real> h = random_rows<Real>(3, samples, 12);
      for (int r = 0; r < 3; ++r) h.view().row(r)[0] = Real(r == 0 ? -30 : (r == 1 ? 0 : 9));
      const RowStore<Real> z = h;
      RowStore<Real> d = random_rows<Real>(3, samples, 13);
      const RowStore<Real> before = d;
      dense::kernels<Real>(isa).tanh_rows(h.view(), 3, samples);
      dense::kernels<Real>(isa).tanh_adjoint(h.view(), d.view(), 3, samples);
      for (int r = 0; r < 3; ++r) {
        for (int s = 0; s < samples; ++s) {
          const double value = std::tanh(static_cast<double>(z.view().row(r)[s]));
          const double seed = static_cast<double>(before.view().row(r)[s]);
          EXPECT_NEAR(static_cast<double>(h.view().row(r)[s]), value, tolerance * std::abs(value));
          EXPECT_NEAR(static_cast<double>(d.view().row(r)[s]), seed * (1.0 - value * value),
                      2 * tolerance * std::abs(seed));
        }
      }
    }
  }
}

TYPED_TEST(DenseTest, GatherTurnsSamplesIntoColumns) {
  using Real = TypeParam;
  const int features = 5, width = 8, count = 40, samples = 37;
  const auto table = random_vector<Real>(width * count, 14);
  std::vector<std::uint32_t> index(samples);
  for (int j = 0; j < samples; ++j) index[j] = static_cast<std::uint32_t>((j * 17) % count);
  for (const Isa isa : isas()) {
    RowStore<Real> x(features, samples);
    dense::kernels<Real>(isa).gather(table.data(), width, index.data(), x.view(), features, samples);
    for (int f = 0; f < features; ++f) {
      for (int j = 0; j < samples; ++j) EXPECT_EQ(x.view().row(f)[j], table[index[j] * width + f]);
    }
  }
}

// Everything that a network computes, one instruction set after the other.
template <class Real>
std::vector<double> all_results(Isa isa, const Size& n) {
  const auto& kernels = dense::kernels<Real>(isa);
  const auto w = random_vector<Real>(n.outputs * n.inputs, 15);
  const auto b = random_vector<Real>(n.outputs, 16);
  const auto x = random_rows<Real>(n.inputs, n.samples, 17);
  RowStore<Real> y(n.outputs, n.samples);
  RowStore<Real> dx(n.inputs, n.samples);
  kernels.affine(w.data(), n.inputs, b.data(), x.view(), y.view(), n.outputs, n.inputs, n.samples);
  kernels.tanh_rows(y.view(), n.outputs, n.samples);
  kernels.tanh_adjoint(y.view(), y.view(), n.outputs, n.samples);
  kernels.affine_transposed(w.data(), n.inputs, y.view(), dx.view(), n.outputs, n.inputs, n.samples, false);
  std::vector<double> results(n.outputs * n.inputs + n.outputs);
  kernels.outer_accumulate(y.view(), x.view(), results.data(), results.data() + n.outputs * n.inputs, n.outputs,
                           n.inputs, n.samples);
  auto m = random_vector<Real>(n.outputs, 18);
  auto v = b;
  for (Real& value : v) value *= value;
  auto p = b;
  kernels.adam({Real(0.9), Real(0.999), Real(0.01), Real(3), Real(1e-8)}, results.data(), m.data(), v.data(), p.data(),
               n.inputs > 0 ? n.outputs : 0);
  for (const Real value : p) results.push_back(static_cast<double>(value));
  for (int r = 0; r < n.outputs; ++r) {
    for (int s = 0; s < n.samples; ++s) results.push_back(static_cast<double>(y.view().row(r)[s]));
  }
  for (int r = 0; r < n.inputs; ++r) {
    for (int s = 0; s < n.samples; ++s) results.push_back(static_cast<double>(dx.view().row(r)[s]));
  }
  return results;
}

TYPED_TEST(DenseTest, AllInstructionSetsAgreeToTheLastBit) {
  for (const Size& n : kSizes) {
    const auto slow = all_results<TypeParam>(Isa::kBaseline, n);
    for (const Isa isa : isas()) {
      const auto fast = all_results<TypeParam>(isa, n);
      ASSERT_EQ(fast.size(), slow.size());
      EXPECT_EQ(std::memcmp(fast.data(), slow.data(), slow.size() * sizeof(double)), 0)
          << n.outputs << "x" << n.inputs << "x" << n.samples << " " << isa_name(isa);
    }
  }
}

}  // namespace
}  // namespace cgpo
