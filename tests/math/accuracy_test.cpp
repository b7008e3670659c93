// The largest error of each function, measured against the C library in a wider type.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "cgpo/base/random.hpp"
#include "cgpo/math/elementary.hpp"

#include "ulp.hpp"

namespace cgpo::elementary::test {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr int kRepeat = 1;
#else
constexpr int kRepeat = 8;
#endif

// Units in the last place that an angle's function may be off for |x| <= 64, |x| <= kModerateBound, and beyond.
struct AngleBounds {
  double ordinary;
  double moderate;
  double huge;
};
constexpr AngleBounds kSinBounds{2.25, 2.5, 3.5};
constexpr AngleBounds kSinCosBounds{1.5, 2.5, 3.5};
constexpr AngleBounds kTanBounds{3.0, 3.5, 5.0};
constexpr double kOrdinary = 64.0;

template <class Real>
class Accuracy : public testing::Test {
 protected:
  using Limits = std::numeric_limits<Real>;

  // Both signs of every binary exponent that a finite number may have.
  template <class Visit>
  void for_all_exponents(int each, Visit visit) {
    for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e) {
      for (int i = 0; i < each * kRepeat; ++i) {
        const auto x = static_cast<Real>(std::ldexp(static_cast<Wide<Real>>(stream_.uniform(1.0, 2.0)), e));
        if (std::isinf(x)) continue;
        visit(x);
        visit(-x);
      }
    }
  }

  template <class Visit>
  void for_range(double low, double high, int count, Visit visit) {
    for (int i = 0; i < count * kRepeat; ++i) visit(static_cast<Real>(stream_.uniform(low, high)));
  }

  // Numbers next to multiples of pi/2, where reduction cancels most.
  template <class Visit>
  void near_quarter_turns(double limit, int count, Visit visit) {
    constexpr auto kHalfPi = static_cast<Wide<Real>>(1.57079632679489661923132169163975144L);
    for (int i = 0; i < count * kRepeat; ++i) {
      const double n = std::floor(std::exp2(stream_.uniform(0.0, std::log2(limit) - 0.66)));
      const auto x = static_cast<Real>(static_cast<Wide<Real>>(n) * kHalfPi);
      visit(x);
      visit(std::nextafter(x, Real{0}));
      visit(std::nextafter(x, Limits::max()));
    }
  }

  template <class Function, class Witness>
  auto measure(double& worst, Real& where, Function function, Witness witness) {
    return [&worst, &where, function, witness](Real x) {
      const double error = ulp_error<Real>(function(x), witness(static_cast<Wide<Real>>(x)));
      if (error > worst) {
        worst = error;
        where = x;
      }
    };
  }

  template <class Function, class Witness, class Cover>
  void expect_within(const std::string& name, double bound, Function function, Witness witness, Cover cover) {
    double worst = 0.0;
    Real where = 0;
    cover(measure(worst, where, function, witness));
    fmt::print("{:>6} {:<22} {:.3f} ulp at {:a}\n", sizeof(Real) == 4 ? "float" : "double", name, worst, where);
    this->RecordProperty(name, fmt::format("{:.4f}", worst));
    EXPECT_LE(worst, bound) << name << " at " << fmt::format("{:a}", where);
  }

  template <class Function, class Witness>
  void expect_angle_within(const std::string& name, const AngleBounds& bounds, Function function, Witness witness) {
    const auto limit = static_cast<Real>(kModerateBound<Real>);
    expect_within(name, bounds.ordinary, function, witness, [&](auto visit) {
      for_all_exponents(100, [&](Real x) {
        if (std::abs(x) <= Real{kOrdinary}) visit(x);
      });
      for_range(-10.0, 10.0, 20000, visit);
      for_range(-kOrdinary, kOrdinary, 20000, visit);
      near_quarter_turns(kOrdinary, 3000, visit);
    });
    expect_within(name + "_moderate", bounds.moderate, function, witness, [&](auto visit) {
      for_range(-1000.0, 1000.0, 10000, visit);
      for_range(-kModerateBound<Real>, kModerateBound<Real>, 10000, visit);
      near_quarter_turns(kModerateBound<Real>, 20000, visit);
    });
    expect_within(name + "_huge", bounds.huge, function, witness, [&](auto visit) {
      for_all_exponents(60, [&](Real x) {
        if (std::abs(x) > limit) visit(x);
      });
    });
  }

  RandomStream stream_{1, Purpose::kTest};
};

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Accuracy, Reals);

TYPED_TEST(Accuracy, Sin) {
  using W = Wide<TypeParam>;
  this->expect_angle_within(
      "sin", kSinBounds, [](TypeParam x) { return sin<TypeParam>(x); }, [](W x) { return std::sin(x); });
}

TYPED_TEST(Accuracy, Cos) {
  using W = Wide<TypeParam>;
  this->expect_angle_within(
      "cos", kSinBounds, [](TypeParam x) { return cos<TypeParam>(x); }, [](W x) { return std::cos(x); });
}

TYPED_TEST(Accuracy, SinCos) {
  using W = Wide<TypeParam>;
  this->expect_angle_within(
      "sincos_sin", kSinCosBounds, [](TypeParam x) { return sincos<TypeParam>(x).sin; },
      [](W x) { return std::sin(x); });
  this->expect_angle_within(
      "sincos_cos", kSinCosBounds, [](TypeParam x) { return sincos<TypeParam>(x).cos; },
      [](W x) { return std::cos(x); });
}

TYPED_TEST(Accuracy, Tan) {
  using W = Wide<TypeParam>;
  this->expect_angle_within(
      "tan", kTanBounds, [](TypeParam x) { return tan<TypeParam>(x); }, [](W x) { return std::tan(x); });
}

TYPED_TEST(Accuracy, Exp) {
  using W = Wide<TypeParam>;
  const double high = std::is_same_v<TypeParam, float> ? 90.0 : 711.0;
  const double low = std::is_same_v<TypeParam, float> ? -105.0 : -747.0;
  this->expect_within(
      "exp", 1.5, [](TypeParam x) { return exp<TypeParam>(x); }, [](W x) { return std::exp(x); },
      [&](auto visit) {
        this->for_all_exponents(50, visit);
        this->for_range(-2.0, 2.0, 50000, visit);
        this->for_range(low, high, 50000, visit);
        this->for_range(high - 3.0, high, 5000, visit);
        this->for_range(low, low + 40.0, 10000, visit);
      });
}

TYPED_TEST(Accuracy, Log) {
  using W = Wide<TypeParam>;
  this->expect_within(
      "log", 1.2, [](TypeParam x) { return log<TypeParam>(x); }, [](W x) { return std::log(x); },
      [this](auto visit) {
        this->for_all_exponents(100, visit);
        this->for_range(0.5, 2.0, 100000, visit);
        this->for_range(0.99, 1.01, 20000, visit);
        this->for_range(0.0, 100.0, 20000, visit);
      });
}

TYPED_TEST(Accuracy, Tanh) {
  using W = Wide<TypeParam>;
  this->expect_within(
      "tanh", 3.0, [](TypeParam x) { return tanh<TypeParam>(x); }, [](W x) { return std::tanh(x); },
      [this](auto visit) {
        this->for_all_exponents(100, visit);
        this->for_range(-1.0, 1.0, 50000, visit);
        this->for_range(-10.0, 10.0, 100000, visit);
        this->for_range(-22.0, 22.0, 20000, visit);
      });
}

TYPED_TEST(Accuracy, TanhNeverExceedsOne) {
  TypeParam largest = 0;
  this->for_range(3.0, 25.0, 50000, [&](TypeParam x) { largest = std::max(largest, tanh<TypeParam>(x)); });
  EXPECT_EQ(largest, TypeParam{1});
}

TYPED_TEST(Accuracy, Atan2) {
  using W = Wide<TypeParam>;
  for (const double x : {1.0, -1.0, 0.3, -7.0, 1e-30, -1e-30, 1e30, -1e30, 1e-40, 3e38}) {
    const auto column = static_cast<TypeParam>(x);
    this->expect_within(
        fmt::format("atan2_x_{}", x), 2.5, [=](TypeParam y) { return atan2<TypeParam>(y, column); },
        [=](W y) { return std::atan2(y, static_cast<W>(column)); },
        [&](auto visit) {
          this->for_all_exponents(8, visit);
          this->for_range(-3.0 * x, 3.0 * x, 8000, visit);
        });
  }
}

TYPED_TEST(Accuracy, ModerateIsTheSameToTheLastBit) {
  using Real = TypeParam;
  int different = 0;
  const auto compare = [&different](Real x) {
    const SinCos<Real> both = sincos<Real>(x);
    const SinCos<Real> moderate = sincos_moderate<Real>(x);
    const bool same = same_bits(sin<Real>(x), sin_moderate<Real>(x)) &&
                      same_bits(cos<Real>(x), cos_moderate<Real>(x)) &&
                      same_bits(tan<Real>(x), tan_moderate<Real>(x)) && same_bits(both.sin, moderate.sin) &&
                      same_bits(both.cos, moderate.cos);
    different += same ? 0 : 1;
  };
  this->for_all_exponents(10, [&](Real x) {
    if (std::abs(x) <= static_cast<Real>(kModerateBound<Real>)) compare(x);
  });
  this->for_range(-kModerateBound<Real>, kModerateBound<Real>, 20000, compare);
  compare(static_cast<Real>(kModerateBound<Real>));
  compare(static_cast<Real>(-kModerateBound<Real>));
  EXPECT_EQ(different, 0);
}

// Among all doubles, 6381956970095103 * 2^797 comes nearest to a multiple of pi/2. The long double witness of the C
// library reduces such arguments with all the digits it needs.
TEST(HardAngles, Double) {
  const double hardest = std::ldexp(6381956970095103.0, 797);
  for (const double x : {hardest, -hardest, std::nextafter(hardest, 0.0), 0x1.7ffffffffffffp1023,
                         0x1.fffffffffffffp1023, 0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.d8e64b8d4ddaep2}) {
    const long double wide = x;
    EXPECT_LE(ulp_error<double>(sin<double>(x), std::sin(wide)), kSinBounds.huge) << x;
    EXPECT_LE(ulp_error<double>(cos<double>(x), std::cos(wide)), kSinBounds.huge) << x;
    EXPECT_LE(ulp_error<double>(sincos<double>(x).sin, std::sin(wide)), kSinBounds.huge) << x;
    EXPECT_LE(ulp_error<double>(sincos<double>(x).cos, std::cos(wide)), kSinBounds.huge) << x;
    EXPECT_LE(ulp_error<double>(tan<double>(x), std::tan(wide)), kTanBounds.huge) << x;
  }
  // What is known of it: 4.6871659242546277e-19 from a multiple of pi/2.
  EXPECT_NEAR(std::abs(cos<double>(hardest)), 4.6871659242546277e-19, 1e-33);
}

// For each exponent, the floats that lie nearest to multiples of pi/2: the best two approximations of 2^e * 2/pi by
// fractions (from the continued fraction) with a denominator below 2^24 give the significands.
TEST(HardAngles, Float) {
  int tried = 0;
  double nearest = 1.0;
  for (int e = -10; e <= 104; ++e) {
    const long double step = std::ldexp(1.0L, e);
    // 2^e modulo pi/2, in units of pi/2, by the witness alone: sin and cos of 2^e.
    long double fraction = std::atan2(std::sin(4.0L * step), std::cos(4.0L * step)) / 6.28318530717958647692528676656L;
    fraction -= std::floor(fraction);
    long double rest = fraction;
    std::uint64_t q0 = 0;
    std::uint64_t q1 = 1;
    while (rest > 1e-12L && q1 < (1U << 24)) {
      for (std::uint64_t q = q1; q < (1U << 24); q *= 2) {
        const auto x = static_cast<float>(std::ldexp(static_cast<double>(q), e));
        nearest = std::min({nearest, std::abs(std::sin(double{x})), std::abs(std::cos(double{x}))});
        ++tried;
        EXPECT_LE(ulp_error<float>(sin<float>(x), std::sin(double{x})), kSinBounds.huge) << x;
        EXPECT_LE(ulp_error<float>(cos<float>(x), std::cos(double{x})), kSinBounds.huge) << x;
        EXPECT_LE(ulp_error<float>(sincos<float>(x).sin, std::sin(double{x})), kSinBounds.huge) << x;
        EXPECT_LE(ulp_error<float>(sincos<float>(x).cos, std::cos(double{x})), kSinBounds.huge) << x;
        EXPECT_LE(ulp_error<float>(tan<float>(x), std::tan(double{x})), kTanBounds.huge) << x;
      }
      const long double inverse = 1.0L / rest;
      const auto term = static_cast<std::uint64_t>(inverse);
      rest = inverse - static_cast<long double>(term);
      const std::uint64_t q2 = term * q1 + q0;
      q0 = q1;
      q1 = q2;
    }
  }
  fmt::print("{} floats, the nearest {:.3g} from a multiple of pi/2\n", tried, nearest);
  EXPECT_LT(nearest, 1e-8);  // the search did find hard ones
}

}  // namespace
}  // namespace cgpo::elementary::test
