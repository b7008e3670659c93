// Private to this folder: the functions and operators of expressions, one table each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cgpo/taskfile/moment.hpp"

namespace cgpo {

// A call whose arguments are numbers already.
struct FunctionCall {
  const SourceText& source;
  const SyntaxNode& node;
  std::vector<Numbers> arguments;

  [[noreturn]] void fail(const std::string& sentence) const { source.fail(node.at, sentence); }
};

// Those that look at more than their arguments' values are evaluated where the moment is known.
enum class FunctionForm : unsigned char { kPlain, kBefore, kNext, kUniform, kNormal };

struct FunctionRow {
  std::string_view name;
  std::string_view usage;  // "clamp(x, low, high)"
  std::string_view meaning;
  int least = 1;  // arguments
  int most = 1;
  Numbers (*apply)(const FunctionCall&) = nullptr;
  FunctionForm form = FunctionForm::kPlain;
};
std::span<const FunctionRow> function_rows();

struct OperatorRow {
  std::string_view sign;
  std::string_view usage;
  std::string_view meaning;
  int operands = 2;
  Numbers (*apply)(const FunctionCall&) = nullptr;
};
std::span<const OperatorRow> operator_rows();

// x^p for a constant p.
Numbers power(const FunctionCall& call, double exponent);
// One of < <= > >= == !=.
Numbers compare_numbers(const FunctionCall& call, std::string_view sign);

}  // namespace cgpo
