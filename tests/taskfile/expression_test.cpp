// The language of expressions: values beside C++'s own, and what is wrong with a place.
#include <cmath>
#include <fmt/format.h>

#include "files.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal_of;
using ::testing::StartsWith;
using testing::value_of;
using testing::with_reward;

TEST(Expression, BindsAsInMathematics) {
  EXPECT_EQ(value_of("1 + 2 * 3 - 4 / 8"), 6.5);
  EXPECT_EQ(value_of("-2^2"), -4.0);
  EXPECT_EQ(value_of("2^-1 + 2^3"), 8.5);
  EXPECT_EQ(value_of("(1 + 2) * -3"), -9.0);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3.0);
  EXPECT_EQ(value_of("16 / 4 / 2"), 2.0);
  EXPECT_EQ(value_of("1e-3 + .5"), 0.501);
  EXPECT_EQ(value_of("9^0.5"), 3.0);
}

TEST(Expression, ComparesAndDecides) {
  EXPECT_EQ(value_of("1 < 2 and not 3 <= 2"), 1.0);
  EXPECT_EQ(value_of("1 < 2 < 3"), 1.0);
  EXPECT_EQ(value_of("3 > 2 > 2"), 0.0);  // and not (3 > 2) > 2 by itself
  EXPECT_EQ(value_of("0 < 0.5 < 0.4"), 0.0);
  EXPECT_EQ(value_of("1 == 1 or 1 / 0 > 2"), 1.0);
  EXPECT_EQ(value_of("1 != 1"), 0.0);
  EXPECT_EQ(value_of("not 0 and 2 >= 2"), 1.0);
  EXPECT_EQ(value_of("where(x > 0, 7, 8)"), 7.0);
  EXPECT_EQ(value_of("where(x > 1, 7, 8)"), 8.0);
  EXPECT_EQ(value_of("sum(where(v > 1.5, v, 0))"), 5.0);
}

TEST(Expression, FunctionsAreThoseOfC) {
  const double x = 0.5;
  const std::vector<std::pair<std::string, double>> cases = {
      {"sin(x)", std::sin(x)},
      {"cos(x)", std::cos(x)},
      {"tan(x)", std::tan(x)},
      {"atan2(x, -2)", std::atan2(x, -2.0)},
      {"wrap(x + 2 * pi)", x},
      {"exp(x)", std::exp(x)},
      {"log(x)", std::log(x)},
      {"sqrt(x)", std::sqrt(x)},
      {"square(x)", x * x},
      {"abs(-x)", x},
      {"sign(-x)", -1.0},
      {"sign(0 * x)", 0.0},
      {"floor(-x)", -1.0},
      {"tanh(x)", std::tanh(x)},
      {"sigmoid(x)", 1.0 / (1.0 + std::exp(-x))},
      {"min(v)", 1.0},
      {"max(v)", 3.0},
      {"sum(min(v, 2))", 5.0},
      {"sum(max(v, [3, 0, 0], 1.5))", 3.0 + 2.0 + 3.0},
      {"clamp(x, 0.6, 1)", 0.6},
      {"clamp(2, 0.6, 1)", 1.0},
      {"sum(v)", 6.0},
      {"mean(v)", 2.0},
      {"length(v)", 3.0},
      {"sum_squares(v)", 14.0},
      {"norm(v)", std::sqrt(14.0)},
      {"norm(0 * v)", 0.0},
      {"smooth_norm(v, 0.1)", std::sqrt(14.01) - 0.1},
      {"dot(v, [1, 10, 100])", 321.0},
      {"dot(cross([1, 0, 0], [0, 1, 0]), v)", 3.0},
  };
  for (const auto& [text, expected] : cases) EXPECT_NEAR(value_of(text), expected, 1e-14) << text;
}

TEST(Expression, VectorsAreTakenApartAndPutTogether) {
  EXPECT_EQ(value_of("v[0] + 10 * v[-1]"), 31.0);
  EXPECT_EQ(value_of("sum(v[1:]) + 100 * sum(v[:-1])"), 305.0);
  EXPECT_EQ(value_of("v.x + 10 * v.y + 100 * v.z"), 321.0);
  EXPECT_EQ(value_of("[v, x, [4]][3] + [v, 4][3]"), 4.5);
  EXPECT_EQ(value_of("dot(v * 2 + 1, [1, 0, 0])"), 3.0);
  EXPECT_EQ(value_of("dot(action, [1, 10])"), 0.25 - 5.0);
}

TEST(Expression, DefinitionsAreUsedInAnyOrderAndBeforeTheStep) {
  const std::string more =
      "[define]\ntwice = 'once + once'\nonce = 'x + change'\nchange = 'x - before(x)'\n"
      "[step]\nx = 'x + action[0]'\n";
  EXPECT_EQ(testing::reward_of(with_reward("twice", more)), 2.0 * (0.75 + 0.25));
  EXPECT_EQ(testing::reward_of(with_reward("before(x + v[0])", more)), 1.5);
}

TEST(Expression, GivesNamesToPartsOfItself) {
  EXPECT_EQ(value_of("a = x + 1; b = a * a; b - a"), 1.5 * 1.5 - 1.5);
  EXPECT_EQ(value_of("w = v * 2;\\n w.z + w[0]"), 8.0);
  EXPECT_EQ(value_of("a = x; a == 0.5"), 1.0);  // and no second name
  EXPECT_EQ(value_of("a = x == 0.5; a"), 1.0);
  const std::string more =
      "[define]\nsquared = 'a = x + change; a * a'\nchange = 'a = before(x); x - a'\n"
      "[step]\nx = 'a = action[0]; x + a'\n";
  EXPECT_EQ(testing::reward_of(with_reward("a = squared; a", more)), 1.0);
  // As long as one likes: no name waits for another.
  std::string chain = "a0 = x; ";
  for (int i = 1; i < 3000; ++i) chain += fmt::format("a{} = a{} + 1; ", i, i - 1);
  EXPECT_EQ(value_of(chain + "a2999"), 2999.5);
}

// No derivative is NaN or infinite at the kink of a norm.
TEST(Expression, NormHasASlopeAtZero) {
  const auto task = testing::task_of_text(with_reward("norm(v - [1, 2, 3]) + abs(x - 0.5)"));
  std::vector<double> input = {0.5, 1.0, 2.0, 3.0, 0.0, 0.0};
  const auto layout = task->layout();
  const auto reward = [&] { return evaluate(task->trace_step(), input)[static_cast<std::size_t>(layout.reward())]; };
  EXPECT_EQ(reward(), 0.0);
  input[1] += 1e-6;
  EXPECT_NEAR(reward(), 1e-6, 1e-12);
}

// Every message begins with file, line and column of the letter that is wrong.
TEST(Expression, ErrorsHaveAPlace) {
  // reward = " takes ten columns, so that column = 11 + index.
  const auto refused = [](const std::string& reward, int column, const std::string& words) {
    EXPECT_THAT(refusal_of(with_reward(reward)),
                AllOf(StartsWith(fmt::format("t.toml:5:{}: ", column)), HasSubstr(words)))
        << reward;
  };
  refused("", 11, "a value is missing");
  refused("1 +", 14, "a value is missing at the end");
  refused("1 + * 2", 15, "before '*'");
  refused("sqr(x)", 11, "there is no function 'sqr' (did you mean 'sqrt'?)");
  refused("1 + spead", 15, "there is no 'spead'");
  refused("acton[0]", 11, "did you mean 'action'?");
  refused("sum(v", 16, "')' is missing after the arguments of sum");
  refused("x y", 13, "'y' was not expected here");
  refused("2x", 12, "follows a number");
  refused("v + [1, 2]", 13, "a vector of 3 and a vector of 2");
  refused("v", 11, "the reward is one number, not a vector of 3");
  refused("v[3]", 12, "[3] is not in a vector of 3, whose entries are 0 to 2");
  refused("x[0]", 12, "one number has no entries");
  refused("v[2:1]", 12, "has no entry");
  refused("v.w", 13, "there is no '.w' here: a vector of 3 has .x, .y and .z");
  refused("[]", 11, "at least one entry");
  refused("x ^ x", 13, "the power behind ^");
  refused("x ** 2", 13, "powers are written with ^");
  refused("x ^ 2.5", 13, "a power is a whole number");
  refused("clamp(x, 1)", 11, "clamp takes clamp(x, low, high), not 2 arguments");
  refused("uniform(0, 1)", 11, "draws for a start");
  refused("next(x)", 11, "next(…) has no meaning after a step");
  refused("before(before(x))", 18, "before(…) has no meaning before a step");
  refused("before(action[0])", 18, "action is not known before a step");
  refused("body('a').position.x", 11, "body is of a robot, and this task has none");
  refused("qpos[0]", 11, "qpos is of a robot");
  refused("'a'", 11, "a text is only the name");
  refused("x and", 16, "a value is missing");
  refused("and x", 11, "a value is missing before 'and'");
  refused("sin", 11, "sin is a function: sin(x)");
  refused("1e999", 11, "too large");
  refused("x # y", 13, "'#' was not expected");
  refused("x + µ", 15, "before 'µ'");
  refused("a = 1", 16, "';' is missing after the value of a, before the end");
  refused("a = 1 b = 2; a", 17, "';' is missing after the value of a, before 'b'");
  refused("a = 1;", 17, "a value is missing at the end");
  refused("a = b; b = 1; b", 15, "there is no 'b'");
  refused("a = 1; a = 2; a", 18, "'a' is there a second time");
  refused("x = 1; x", 11, "'x' means something already");
  refused("sin = 1; sin", 11, "'sin' means something already");
  refused("not = 1; x", 11, "'not' cannot be the name of a value");
  refused("1 = x; x", 13, "'=' was not expected");
  refused("a = x; before(a)", 25, "a has its value already; put before(…) where it gets it");
  refused("(a = x; a)", 14, "')' is missing");
}

TEST(Expression, PlacesAreRightInEveryKindOfQuotes) {
  const std::string end = "[states]\nx = 1\n";
  const std::string begin = "horizon = 1\nactions = 1\nobservation = 'x'\n";
  EXPECT_THAT(refusal_of(begin + "reward = \"\"\"\n  x +\n  wrong\"\"\"\n" + end), StartsWith("t.toml:6:3: "));
  EXPECT_THAT(refusal_of(begin + "reward = '''x + wrong'''\n" + end), StartsWith("t.toml:4:17: "));
  EXPECT_THAT(refusal_of(begin + "reward = \"x + \\\"a\\\" + wrong\"\n" + end), StartsWith("t.toml:4:15: "));
  EXPECT_THAT(refusal_of(begin + "reward = \"\"\"x + \\\n   wrong\"\"\"\n" + end), StartsWith("t.toml:5:4: "));
  EXPECT_THAT(refusal_of("summary = 'äöü' # ß\n" + begin + "reward = \"x + ü\"\n" + end), StartsWith("t.toml:5:15: "));
  EXPECT_THAT(refusal_of(begin + "reward = 'x'\ncosts = [{name = 'ä', limit = 1, expression = 'x + y'}]\n" + end),
              StartsWith("t.toml:5:52: "));
}

// What is too large is refused in a sentence, at once.
TEST(Expression, SizesAreBounded) {
  EXPECT_THAT(refusal_of(with_reward(std::string(5000, '(') + "x" + std::string(5000, ')'))), HasSubstr("levels deep"));
  EXPECT_THAT(refusal_of(with_reward(std::string(5000, '-') + "x")), HasSubstr("levels deep"));
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i) sum += "+x";
  EXPECT_THAT(refusal_of(with_reward(sum)), HasSubstr("at most 1000 operators"));
  std::string doubling = "[define]\nd0 = 'v'\n";
  for (int i = 1; i < 40; ++i) {
    doubling += fmt::format("d{0} = '[d{1}, d{1}]'\n", i, i - 1);
  }
  EXPECT_THAT(refusal_of(with_reward("sum(d39)", doubling)), HasSubstr("at most 4096 entries"));
  EXPECT_THAT(refusal_of(with_reward("a", "[define]\na = 'b'\nb = 'a'\n")), HasSubstr("a is defined by itself"));
  std::string nested = "1";
  for (int i = 0; i < 45; ++i) nested = fmt::format("(x < {} < 2)", nested);
  EXPECT_EQ(value_of(nested), value_of(nested));  // and not 2^45 of them
}

}  // namespace
}  // namespace cgpo
