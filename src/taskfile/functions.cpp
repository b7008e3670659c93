#include "cgpo/taskfile/functions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace cgpo {
namespace {

using Call = const FunctionCall&;

std::string count_words(const Numbers& numbers) {
  return numbers.is_vector ? fmt::format("a vector of {}", numbers.size()) : "one number";
}

// One number goes with any vector; vectors must be of one length. Of all arguments, entry by entry.
template <class Make>
Numbers by_entries(Call call, const Make& make) {
  Numbers result;
  const Numbers* longest = &call.arguments.front();
  for (const Numbers& argument : call.arguments) {
    if (!argument.is_vector) continue;
    if (longest->is_vector && longest->size() != argument.size()) {
      call.fail(fmt::format("{} takes vectors of one length, not {} and {}", call.node.word, count_words(*longest),
                            count_words(argument)));
    }
    longest = &argument;
  }
  result.is_vector = longest->is_vector;
  std::vector<Traced> entries(call.arguments.size());
  for (int i = 0; i < longest->size(); ++i) {
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const Numbers& argument = call.arguments[k];
      entries[k] = argument.at[argument.is_vector ? static_cast<std::size_t>(i) : 0];
    }
    result.at.push_back(make(entries));
  }
  return result;
}

using Entries = const std::vector<Traced>&;
template <Traced (*Function)(const Traced&)>
Numbers unary(Call call) {
  return by_entries(call, [](Entries x) { return Function(x[0]); });
}
template <Traced (*Function)(const Traced&, const Traced&)>
Numbers binary(Call call) {
  return by_entries(call, [](Entries x) { return Function(x[0], x[1]); });
}

// The functions of traced numbers are friends, which have no address by themselves.
Traced sine(const Traced& x) { return sin(x); }
Traced cosine(const Traced& x) { return cos(x); }
Traced tangent(const Traced& x) { return tan(x); }
Traced exponential(const Traced& x) { return exp(x); }
Traced logarithm(const Traced& x) { return log(x); }
Traced root(const Traced& x) { return sqrt(x); }
Traced size_of(const Traced& x) { return abs(x); }
Traced rounded_down(const Traced& x) { return floor(x); }
Traced hyperbolic_tangent(const Traced& x) { return tanh(x); }
Traced squared(const Traced& x) { return x * x; }
Traced sign_of(const Traced& x) { return select(x < 0.0, -1.0, select(0.0 < x, 1.0, 0.0)); }
Traced logistic(const Traced& x) { return 0.5 + 0.5 * tanh(0.5 * x); }
Traced wrapped(const Traced& x) { return atan2(sin(x), cos(x)); }
Traced angle_of(const Traced& y, const Traced& x) { return atan2(y, x); }
Traced smaller(const Traced& a, const Traced& b) { return min(a, b); }
Traced larger(const Traced& a, const Traced& b) { return max(a, b); }
Traced plus(const Traced& a, const Traced& b) { return a + b; }
Traced minus(const Traced& a, const Traced& b) { return a - b; }
Traced times(const Traced& a, const Traced& b) { return a * b; }
Traced divided(const Traced& a, const Traced& b) { return a / b; }
Traced negated(const Traced& a) { return -a; }
Traced both_true(const Traced& a, const Traced& b) { return both(a, b); }
Traced either_true(const Traced& a, const Traced& b) { return either(a, b); }
Traced not_true(const Traced& a) { return select(a, 0.0, 1.0); }

// Of one vector its entries, of several arguments entry by entry.
template <Traced (*Function)(const Traced&, const Traced&)>
Numbers extreme(Call call) {
  const auto fold = [](Entries x) {
    Traced result = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) result = Function(result, x[i]);
    return result;
  };
  if (call.arguments.size() > 1) return by_entries(call, fold);
  return Numbers::one(fold(call.arguments[0].at));
}

Traced total(Entries x) {
  Traced sum = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum = sum + x[i];
  return sum;
}
Traced total_of_squares(Entries x) {
  Traced sum(0.0);
  for (const Traced& entry : x) sum = sum + entry * entry;
  return sum;
}

Numbers sum(Call call) { return Numbers::one(total(call.arguments[0].at)); }
Numbers mean(Call call) { return Numbers::one(total(call.arguments[0].at) / call.arguments[0].size()); }
Numbers sum_squares(Call call) { return Numbers::one(total_of_squares(call.arguments[0].at)); }
Numbers length(Call call) { return Numbers::one(static_cast<double>(call.arguments[0].size())); }

// The slope at 0 is 0: the root is taken of 1 there, and its value not used.
Numbers norm(Call call) {
  const Traced squares = total_of_squares(call.arguments[0].at);
  const Traced is_zero = squares <= 0.0;
  return Numbers::one(select(is_zero, 0.0, sqrt(select(is_zero, 1.0, squares))));
}

Numbers smooth_norm(Call call) {
  if (call.arguments[1].is_vector) call.fail("smooth_norm takes one number for its width");
  const Traced& width = call.arguments[1].at[0];
  return Numbers::one(sqrt(total_of_squares(call.arguments[0].at) + width * width) - width);
}

Numbers dot_product(Call call) {
  return Numbers::one(total(by_entries(call, [](Entries x) { return x[0] * x[1]; }).at));
}

Numbers cross_product(Call call) {
  for (const Numbers& argument : call.arguments) {
    if (argument.size() != 3) call.fail(fmt::format("cross takes vectors of 3, not {}", count_words(argument)));
  }
  const auto vector = [&](std::size_t i) {
    const std::vector<Traced>& at = call.arguments[i].at;
    return vec3(at[0], at[1], at[2]);
  };
  const Vec3<Traced> product = cross(vector(0), vector(1));
  return Numbers::several({product.at.begin(), product.at.end()});
}

Numbers clamp(Call call) {
  return by_entries(call, [](Entries x) { return min(max(x[0], x[1]), x[2]); });
}
Numbers where(Call call) {
  return by_entries(call, [](Entries x) { return select(x[0], x[1], x[2]); });
}

constexpr int kAny = std::numeric_limits<int>::max();

constexpr FunctionRow kFunctions[] = {
    {"sin", "sin(x)", "sine of an angle in radians", 1, 1, unary<sine>},
    {"cos", "cos(x)", "cosine", 1, 1, unary<cosine>},
    {"tan", "tan(x)", "tangent", 1, 1, unary<tangent>},
    {"atan2", "atan2(y, x)", "angle of the point (x, y), from -pi to pi", 2, 2, binary<angle_of>},
    {"wrap", "wrap(angle)", "the same angle between -pi and pi", 1, 1, unary<wrapped>},
    {"exp", "exp(x)", "exponential", 1, 1, unary<exponential>},
    {"log", "log(x)", "natural logarithm", 1, 1, unary<logarithm>},
    {"sqrt", "sqrt(x)", "square root; its slope at 0 is infinite, see norm and smooth_norm", 1, 1, unary<root>},
    {"square", "square(x)", "x times x", 1, 1, unary<squared>},
    {"abs", "abs(x)", "size without sign; its slope at 0 is 0", 1, 1, unary<size_of>},
    {"sign", "sign(x)", "-1, 0 or 1; its slope is 0", 1, 1, unary<sign_of>},
    {"floor", "floor(x)", "largest whole number up to x; its slope is 0", 1, 1, unary<rounded_down>},
    {"tanh", "tanh(x)", "hyperbolic tangent", 1, 1, unary<hyperbolic_tangent>},
    {"sigmoid", "sigmoid(x)", "1 / (1 + exp(-x))", 1, 1, unary<logistic>},
    {"min", "min(v), min(a, b, …)", "smallest entry of a vector, or the smaller of each entry", 1, kAny,
     extreme<smaller>},
    {"max", "max(v), max(a, b, …)", "largest entry of a vector, or the larger of each entry", 1, kAny, extreme<larger>},
    {"clamp", "clamp(x, low, high)", "x where it lies between the two, the nearer of them where it does not", 3, 3,
     clamp},
    {"where", "where(condition, a, b)", "a where the condition holds, b where it does not; both must be finite", 3, 3,
     where},
    {"sum", "sum(v)", "sum of the entries", 1, 1, sum},
    {"mean", "mean(v)", "mean of the entries", 1, 1, mean},
    {"length", "length(v)", "number of entries", 1, 1, length},
    {"sum_squares", "sum_squares(v)", "sum of the entries' squares", 1, 1, sum_squares},
    {"norm", "norm(v)", "length of a vector; its slope at 0 is 0", 1, 1, norm},
    {"smooth_norm", "smooth_norm(v, width)", "sqrt(sum_squares(v) + width^2) - width: a norm that is smooth at 0", 2, 2,
     smooth_norm},
    {"dot", "dot(a, b)", "sum of a times b", 2, 2, dot_product},
    {"cross", "cross(a, b)", "cross product of two vectors of 3", 2, 2, cross_product},
    {"before", "before(x)", "x as it was before the step; in reward, costs and end", 1, 1, nullptr,
     FunctionForm::kBefore},
    {"next", "next(state)", "a state as it is after the step; in [step], where names mean what was before", 1, 1,
     nullptr, FunctionForm::kNext},
    {"uniform", "uniform(low, high), uniform(low, high, n)",
     "drawn anew for each start, evenly between the two; n numbers, or as many as it is assigned to", 2, 3, nullptr,
     FunctionForm::kUniform},
    {"normal", "normal(mean, deviation), normal(mean, deviation, n)", "the same of a normal distribution", 2, 3,
     nullptr, FunctionForm::kNormal},
};

constexpr OperatorRow kOperators[] = {
    {"+", "a + b", "sum", 2, binary<plus>},
    {"-", "a - b", "difference", 2, binary<minus>},
    {"*", "a * b", "product, entry by entry", 2, binary<times>},
    {"/", "a / b", "quotient, entry by entry", 2, binary<divided>},
    {"neg", "-a", "negative", 1, unary<negated>},
    {"and", "a and b", "1 if both hold", 2, binary<both_true>},
    {"or", "a or b", "1 if one of them holds", 2, binary<either_true>},
    {"not", "not a", "1 if it does not hold", 1, unary<not_true>},
};

}  // namespace

std::span<const FunctionRow> function_rows() { return kFunctions; }
std::span<const OperatorRow> operator_rows() { return kOperators; }

Numbers power(const FunctionCall& call, double exponent) {
  constexpr double kLargest = 16.0;
  if (exponent == 0.5) return unary<root>(call);
  if (exponent != std::floor(exponent) || std::abs(exponent) > kLargest) {
    call.fail("a power is a whole number from -16 to 16, or 0.5; other powers of a positive x are exp(p * log(x))");
  }
  return by_entries(call, [exponent](Entries x) {
    Traced result = x[0];
    if (exponent == 0.0) result = 1.0;
    for (int i = 1; i < std::abs(exponent); ++i) result = result * x[0];
    return exponent < 0.0 ? 1.0 / result : result;
  });
}

Numbers compare_numbers(const FunctionCall& call, std::string_view sign) {
  return by_entries(call, [sign](Entries x) {
    if (sign == "<") return x[0] < x[1];
    if (sign == "<=") return x[0] <= x[1];
    if (sign == ">") return x[0] > x[1];
    if (sign == ">=") return x[0] >= x[1];
    if (sign == "==") return x[0] == x[1];
    return select(x[0] == x[1], Traced(0.0), Traced(1.0));
  });
}

}  // namespace cgpo
