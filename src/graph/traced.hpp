// The traced scalar: run code that is a template over its scalar type with it, and the code becomes a graph.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "cgpo/graph/graph.hpp"
#include "cgpo/math/primitives.hpp"

namespace cgpo {

// A constant until it meets a value of a graph. No graph is global: an expression lives in the graph of its operands.
// The graph may be moved meanwhile. Using a value whose graph is gone, or in another graph, is a std::logic_error.
class Traced {
 public:
  Traced(double value = 0.0) : value_(value) {}  // NOLINT(google-explicit-constructor): literals in formulas
  Traced(Graph& graph, NodeId id) : place_(graph.place()), id_(id) {}

  Graph* graph() const;  // null: a constant without a graph
  NodeId id_in(Graph& graph) const;
  bool is_structural_zero() const;  // the constant +0: left out where a pattern of zeros is known beforehand

  Traced& operator+=(const Traced& other) { return *this = *this + other; }
  Traced& operator-=(const Traced& other) { return *this = *this - other; }
  Traced& operator*=(const Traced& other) { return *this = *this * other; }
  Traced& operator/=(const Traced& other) { return *this = *this / other; }

  static Traced make(Op op, const Traced& a) { return make(op, 1, {&a, &a, &a}); }
  static Traced make(Op op, const Traced& a, const Traced& b) { return make(op, 2, {&a, &b, &a}); }
  static Traced make(Op op, const Traced& a, const Traced& b, const Traced& c) { return make(op, 3, {&a, &b, &c}); }

  friend Traced operator+(const Traced& a, const Traced& b) { return make(Op::kAdd, a, b); }
  friend Traced operator-(const Traced& a, const Traced& b) { return make(Op::kSub, a, b); }
  friend Traced operator*(const Traced& a, const Traced& b) { return make(Op::kMul, a, b); }
  friend Traced operator/(const Traced& a, const Traced& b) { return make(Op::kDiv, a, b); }
  friend Traced operator-(const Traced& a) { return make(Op::kNeg, a); }
  friend Traced operator+(const Traced& a) { return a; }

  // Comparisons give 1 or 0; select() takes them.
  friend Traced operator<(const Traced& a, const Traced& b) { return make(Op::kLess, a, b); }
  friend Traced operator>(const Traced& a, const Traced& b) { return make(Op::kLess, b, a); }
  friend Traced operator<=(const Traced& a, const Traced& b) { return make(Op::kLessEqual, a, b); }
  friend Traced operator>=(const Traced& a, const Traced& b) { return make(Op::kLessEqual, b, a); }
  friend Traced operator==(const Traced& a, const Traced& b) { return make(Op::kEqual, a, b); }

  friend Traced less(const Traced& a, const Traced& b) { return a < b; }
  friend Traced less_equal(const Traced& a, const Traced& b) { return a <= b; }
  friend Traced equal(const Traced& a, const Traced& b) { return a == b; }
  friend Traced select(const Traced& condition, const Traced& yes, const Traced& no) {
    return make(Op::kSelect, condition, yes, no);
  }
  friend Traced both(const Traced& a, const Traced& b) { return select(a, b, Traced(0.0)); }
  friend Traced either(const Traced& a, const Traced& b) { return select(a, Traced(1.0), b); }

  friend Traced fma(const Traced& a, const Traced& b, const Traced& c) { return make(Op::kFma, a, b, c); }
  friend Traced sqrt(const Traced& a) { return make(Op::kSqrt, a); }
  friend Traced rsqrt(const Traced& a) { return make(Op::kRsqrt, a); }
  friend Traced reciprocal(const Traced& a) { return make(Op::kReciprocal, a); }
  friend Traced abs(const Traced& a) { return make(Op::kAbs, a); }
  friend Traced min(const Traced& a, const Traced& b) { return make(Op::kMin, a, b); }
  friend Traced max(const Traced& a, const Traced& b) { return make(Op::kMax, a, b); }
  friend Traced floor(const Traced& a) { return make(Op::kFloor, a); }
  friend Traced sin(const Traced& a) { return make(Op::kSin, a); }
  friend Traced cos(const Traced& a) { return make(Op::kCos, a); }
  friend Traced tan(const Traced& a) { return make(Op::kTan, a); }
  friend Traced atan2(const Traced& y, const Traced& x) { return make(Op::kAtan2, y, x); }
  friend Traced exp(const Traced& a) { return make(Op::kExp, a); }
  friend Traced log(const Traced& a) { return make(Op::kLog, a); }
  friend Traced tanh(const Traced& a) { return make(Op::kTanh, a); }

  // For lower() only.
  friend Traced round_even(const Traced& a) { return make(Op::kRoundEven, a); }
  friend Traced pow2i(const Traced& a) { return make(Op::kPow2i, a); }
  friend Traced exponent(const Traced& a) { return make(Op::kExponent, a); }
  friend Traced mantissa(const Traced& a) { return make(Op::kMantissa, a); }
  friend Traced copysign(const Traced& a, const Traced& b) { return make(Op::kCopysign, a, b); }

 private:
  struct Operands {
    const Traced* a;
    const Traced* b;
    const Traced* c;
  };
  static Traced make(Op op, int count, const Operands& operands);

  GraphPlace::Shared place_;
  NodeId id_ = kNoNode;
  double value_ = 0.0;
};

// For lower() only: an element of a constant table.
Traced lookup(const elementary::Table<float>& table, const Traced& index);
Traced lookup(const elementary::Table<double>& table, const Traced& index);

// The same vocabulary for plain numbers, so that a template can be run without tracing it.
inline double select(bool condition, double yes, double no) { return condition ? yes : no; }
inline bool both(bool a, bool b) { return a && b; }
inline bool either(bool a, bool b) { return a || b; }
inline double rsqrt(double a) { return 1.0 / std::sqrt(a); }
inline double reciprocal(double a) { return 1.0 / a; }
inline double min(double a, double b) { return a < b ? a : b; }
inline double max(double a, double b) { return a > b ? a : b; }
using std::abs;
using std::atan2;
using std::cos;
using std::exp;
using std::floor;
using std::fma;
using std::log;
using std::sin;
using std::sqrt;
using std::tan;
using std::tanh;
inline bool is_structural_zero(double a) { return a == 0.0; }
inline bool is_structural_zero(const Traced& a) { return a.is_structural_zero(); }

// Fresh inputs of a graph as traced scalars, and traced scalars as its outputs.
std::vector<Traced> trace_inputs(Graph& graph, int count);
void trace_output(Graph& graph, const Traced& value);
void trace_outputs(Graph& graph, std::span<const Traced> values);

}  // namespace cgpo
