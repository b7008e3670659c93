// The functions hold for a scalar of another namespace that brings the primitives itself, as the graph's scalar does;
// this one also counts them.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cgpo/math/elementary.hpp"

#include "ulp.hpp"

namespace cgpo::counting {

namespace plain = cgpo::elementary::primitive;

template <class Real>
struct Number {
  explicit Number(double value_in) : value(static_cast<Real>(value_in)) {}
  Number() = default;
  Real value = 0;
};

int operations = 0;
int lookups = 0;

template <class Real>
Number<Real> counted(Real value) {
  ++operations;
  Number<Real> number;
  number.value = value;
  return number;
}

// clang-format off
#define CGPO_COUNTED_OPERATOR(op) \
  template <class Real> Number<Real> operator op(const Number<Real>& a, const Number<Real>& b) { return counted<Real>(a.value op b.value); }
CGPO_COUNTED_OPERATOR(+)
CGPO_COUNTED_OPERATOR(-)
CGPO_COUNTED_OPERATOR(*)
CGPO_COUNTED_OPERATOR(/)
template <class Real> Number<Real> operator-(const Number<Real>& a) { return counted<Real>(-a.value); }
#define CGPO_COUNTED_UNARY(name) \
  template <class Real> Number<Real> name(const Number<Real>& a) { return counted<Real>(plain::name(a.value)); }
CGPO_COUNTED_UNARY(sqrt)
CGPO_COUNTED_UNARY(abs)
CGPO_COUNTED_UNARY(floor)
CGPO_COUNTED_UNARY(round_even)
CGPO_COUNTED_UNARY(pow2i)
CGPO_COUNTED_UNARY(exponent)
CGPO_COUNTED_UNARY(mantissa)
#define CGPO_COUNTED_BINARY(name) \
  template <class Real> Number<Real> name(const Number<Real>& a, const Number<Real>& b) { return counted<Real>(plain::name(a.value, b.value)); }
CGPO_COUNTED_BINARY(less)
CGPO_COUNTED_BINARY(less_equal)
CGPO_COUNTED_BINARY(equal)
CGPO_COUNTED_BINARY(min)
CGPO_COUNTED_BINARY(max)
CGPO_COUNTED_BINARY(copysign)
// clang-format on

template <class Real>
Number<Real> fma(const Number<Real>& a, const Number<Real>& b, const Number<Real>& c) {
  return counted<Real>(plain::fma(a.value, b.value, c.value));
}
template <class Real>
Number<Real> select(const Number<Real>& mask, const Number<Real>& a, const Number<Real>& b) {
  return counted<Real>(mask.value != 0 ? a.value : b.value);
}
template <class Real>
Number<Real> lookup(const elementary::Table<Real>& table, const Number<Real>& index) {
  ++lookups;
  return counted<Real>(plain::lookup(table, index.value));
}

}  // namespace cgpo::counting

namespace cgpo::elementary::test {
namespace {

template <class Real>
class TracedScalar : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(TracedScalar, Reals);

TYPED_TEST(TracedScalar, GivesTheBitsOfThePlainOne) {
  using Real = TypeParam;
  using S = counting::Number<Real>;
  const auto compare = [](const char* name, auto function) {
    for (const double x : {0.0, -0.0, 0.3, -1.7, 12.5, 1e20, -3e-40}) {
      counting::operations = 0;
      counting::lookups = 0;
      const S traced = function(S(x));
      const int operations = counting::operations;
      ASSERT_TRUE(same_bits(traced.value, function(static_cast<Real>(x))) || std::isnan(traced.value)) << name << x;
      if (x == 0.3) {
        fmt::print("{:>6} {:<16} {} operations, {} of them lookups\n", sizeof(Real) == 4 ? "float" : "double", name,
                   operations, counting::lookups);
        testing::Test::RecordProperty(name, operations);
      }
    }
  };
  compare("sin", [](auto x) { return sin<Real>(x); });
  compare("cos", [](auto x) { return cos<Real>(x); });
  compare("sincos", [](auto x) { return sincos<Real>(x).sin; });
  compare("tan", [](auto x) { return tan<Real>(x); });
  compare("sin_moderate", [](auto x) { return sin_moderate<Real>(x); });
  compare("cos_moderate", [](auto x) { return cos_moderate<Real>(x); });
  compare("sincos_moderate", [](auto x) { return sincos_moderate<Real>(x).cos; });
  compare("tan_moderate", [](auto x) { return tan_moderate<Real>(x); });
  compare("exp", [](auto x) { return exp<Real>(x); });
  compare("log", [](auto x) { return log<Real>(x); });
  compare("tanh", [](auto x) { return tanh<Real>(x); });
  compare("atan2", [](auto x) { return atan2<Real>(x, x + decltype(x)(0.5)); });
}

}  // namespace
}  // namespace cgpo::elementary::test
