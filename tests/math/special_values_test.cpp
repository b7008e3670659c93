// Zeros, infinities, NaN, denormal numbers, and the primitives.
#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <utility>

#include "cgpo/math/elementary.hpp"

#include "ulp.hpp"

namespace cgpo::elementary::test {
namespace {

template <class Real>
class SpecialValues : public testing::Test {
 protected:
  static constexpr Real kInf = std::numeric_limits<Real>::infinity();
  static constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, Reals);

template <class Real>
testing::AssertionResult is(Real value, Real wanted) {
  if (std::isnan(wanted) ? std::isnan(value) : same_bits(value, wanted)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " is not " << wanted;
}

TYPED_TEST(SpecialValues, OddFunctionsKeepZerosAndDenormals) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  for (const Real size : {Real{0}, Limits::denorm_min(), Limits::denorm_min() * 5, Limits::min() / 2, Limits::min()}) {
    for (const Real x : {size, -size}) {
      EXPECT_TRUE(is(sin<Real>(x), x));
      EXPECT_TRUE(is(sin_moderate<Real>(x), x));
      EXPECT_TRUE(is(sincos<Real>(x).sin, x));
      EXPECT_TRUE(is(tan<Real>(x), x));
      EXPECT_TRUE(is(tanh<Real>(x), x));
      EXPECT_TRUE(is(cos<Real>(x), Real{1}));
      EXPECT_TRUE(is(sincos<Real>(x).cos, Real{1}));
      EXPECT_TRUE(is(exp<Real>(x), Real{1}));
    }
  }
}

TYPED_TEST(SpecialValues, AnglesThatAreNotNumbers) {
  using Real = TypeParam;
  for (const Real x : {this->kInf, -this->kInf, this->kNan, -this->kNan}) {
    EXPECT_TRUE(is(sin<Real>(x), this->kNan));
    EXPECT_TRUE(is(cos<Real>(x), this->kNan));
    EXPECT_TRUE(is(tan<Real>(x), this->kNan));
    EXPECT_TRUE(is(sincos<Real>(x).sin, this->kNan));
    EXPECT_TRUE(is(sincos<Real>(x).cos, this->kNan));
    EXPECT_TRUE(is(sin_moderate<Real>(x), this->kNan));
    EXPECT_TRUE(is(cos_moderate<Real>(x), this->kNan));
  }
}

TYPED_TEST(SpecialValues, Exp) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  EXPECT_TRUE(is(exp<Real>(this->kInf), this->kInf));
  EXPECT_TRUE(is(exp<Real>(-this->kInf), Real{0}));
  EXPECT_TRUE(is(exp<Real>(this->kNan), this->kNan));
  EXPECT_TRUE(is(exp<Real>(Limits::max()), this->kInf));
  EXPECT_TRUE(is(exp<Real>(Limits::lowest()), Real{0}));
  const Real last = std::log(Limits::max());
  EXPECT_TRUE(std::isfinite(exp<Real>(std::nextafter(last, Real{0}))));
  EXPECT_TRUE(is(exp<Real>(last + Real{1}), this->kInf));
  const Real first = std::log(Limits::denorm_min());
  EXPECT_TRUE(is(exp<Real>(first), Limits::denorm_min()));
  EXPECT_TRUE(is(exp<Real>(first - Real{1}), Real{0}));
}

TYPED_TEST(SpecialValues, Log) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  EXPECT_TRUE(is(log<Real>(Real{0}), -this->kInf));
  EXPECT_TRUE(is(log<Real>(-Real{0}), -this->kInf));
  EXPECT_TRUE(is(log<Real>(Real{1}), Real{0}));
  EXPECT_TRUE(is(log<Real>(this->kInf), this->kInf));
  for (const Real x : {Real{-1}, -Limits::denorm_min(), Limits::lowest(), -this->kInf, this->kNan}) {
    EXPECT_TRUE(is(log<Real>(x), this->kNan)) << x;
  }
  EXPECT_LE(ulp_error<Real>(log<Real>(Limits::denorm_min()), std::log(static_cast<Wide<Real>>(Limits::denorm_min()))),
            1.2);
}

TYPED_TEST(SpecialValues, Tanh) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  for (const Real x : {this->kInf, Limits::max(), Real{25}, Real{1000}}) {
    EXPECT_TRUE(is(tanh<Real>(x), Real{1}));
    EXPECT_TRUE(is(tanh<Real>(-x), Real{-1}));
  }
  EXPECT_TRUE(is(tanh<Real>(this->kNan), this->kNan));
}

TYPED_TEST(SpecialValues, Atan2FollowsC) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  const Real values[] = {Real{0},
                         Limits::denorm_min(),
                         Limits::denorm_min() * 2,
                         Limits::min(),
                         Real{1},
                         Real{3},
                         Limits::max() / 2,
                         Limits::max(),
                         this->kInf,
                         this->kNan};
  for (const Real ay : values) {
    for (const Real ax : values) {
      for (const Real y : {ay, -ay}) {
        for (const Real x : {ax, -ax}) {
          const Real value = atan2<Real>(y, x);
          const auto exact = std::atan2(static_cast<Wide<Real>>(y), static_cast<Wide<Real>>(x));
          EXPECT_LE(ulp_error<Real>(value, exact), 2.5) << y << " " << x;
          if (!std::isnan(exact)) {
            EXPECT_EQ(std::signbit(value), std::signbit(exact)) << y << " " << x;
          }
        }
      }
    }
  }
}

TYPED_TEST(SpecialValues, Primitives) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  for (int n = Limits::min_exponent - 1; n < Limits::max_exponent; ++n) {
    const Real power = std::ldexp(Real{1}, n);
    ASSERT_TRUE(is(pow2i(static_cast<Real>(n)), power)) << n;
    ASSERT_TRUE(is(exponent(power), static_cast<Real>(n))) << n;
    ASSERT_TRUE(is(exponent(power * Real{1.75}), static_cast<Real>(n))) << n;
    ASSERT_TRUE(is(mantissa(power * Real{1.75}), Real{1.75})) << n;
  }
  // Unspecified, but the sanitizers must be silent.
  for (const Real x : {this->kNan, this->kInf, -this->kInf, Limits::max(), Limits::lowest(), -Real{0}}) {
    static_cast<void>(pow2i(x) + exponent(x) + mantissa(x));
  }
  EXPECT_TRUE(is(round_even(Real{2.5}), Real{2}));
  EXPECT_TRUE(is(round_even(Real{3.5}), Real{4}));
  EXPECT_TRUE(is(round_even(Real{-0.5}), -Real{0}));
  EXPECT_TRUE(is(min(this->kNan, Real{1}), Real{1}));
  EXPECT_TRUE(is(max(Real{1}, this->kNan), this->kNan));
  EXPECT_TRUE(is(copysign(Real{2}, -Real{0}), Real{-2}));
  static constexpr Real kValues[] = {Real{10}, Real{11}, Real{12}};
  const Table<Real> table{kValues, 3};
  for (const auto& [index, wanted] : {std::pair<Real, Real>{0, 10},
                                      {2, 12},
                                      {-5, 10},
                                      {1e30, 12},
                                      {-1e30, 10},
                                      {this->kInf, 12},
                                      {-this->kInf, 10}}) {
    EXPECT_TRUE(is(lookup(table, index), wanted));
  }
  EXPECT_GE(lookup(table, this->kNan), Real{10});  // some element
}

// What a build without the instruction computes, against the library's function: bit patterns of every kind, and sums
// that cancel down to what a product rounded by itself would have lost.
TEST(FusedMultiplyAdd, IsRoundedOnce) {
  std::uint64_t state = 1;
  const auto bits = [&] {
    return static_cast<std::uint32_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 32);
  };
  const auto any = [&] { return std::bit_cast<float>(bits()); };
  for (int i = 0; i < 1'000'000; ++i) {
    const float a = any(), b = any();
    const float product = a * b;
    const float addends[] = {any(), -product, -product * 2.0f, std::nextafter(-product, 0.0f), product * 0x1p-24f,
                             0.0f};
    for (const float c : addends)
      ASSERT_TRUE(is(primitive::fma(a, b, c), std::fma(a, b, c))) << a << " " << b << " " << c;
  }
}

}  // namespace
}  // namespace cgpo::elementary::test
