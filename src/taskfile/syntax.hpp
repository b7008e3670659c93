// Private to this folder: expressions of a task file, from their letters to a tree.
//
//   expression:  { name "=" or ";" } or                                   names for what follows, of this one alone
//   or:          and { "or" and }
//   and:         not { "and" not }
//   not:         "not" not | comparison
//   comparison:  sum { ("<" | "<=" | ">" | ">=" | "==" | "!=") sum }      a < b < c means a < b and b < c
//   sum:         product { ("+" | "-") product }
//   product:     sign { ("*" | "/") sign }
//   sign:        ("-" | "+") sign | power
//   power:       postfix [ "^" sign ]
//   postfix:     primary { "[" index "]" | "." name }
//   primary:     number | 'text' | "text" | name | name "(" … ")" | "(" or ")" | "[" or { "," or } "]"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cgpo {

// Where a character stands in a file; both count from 1, columns in characters.
struct Spot {
  int line = 0;
  int column = 0;
};

// "task.toml:3:14".
std::string place_words(const std::string& file, const Spot& spot);

// The text of an expression, and where each of its bytes stands in the file that it came from.
struct SourceText {
  std::string file;
  std::string text;
  std::vector<Spot> spots;  // one for each byte, and one for the end

  const Spot& spot(std::size_t at) const { return spots[at < spots.size() ? at : spots.size() - 1]; }
  // Throws UserError: place and sentence.
  [[noreturn]] void fail(std::size_t at, const std::string& sentence) const;
};

// What a tree's node is. Operators are calls whose name is the operator, "neg" and "not" those with one operand.
// A kComparison has its signs in `signs`, one between each two of its operands.
enum class NodeKind : unsigned char { kNumber, kText, kName, kCall, kComparison, kVector, kIndex, kSlice, kMember };

struct SyntaxNode {
  NodeKind kind = NodeKind::kNumber;
  std::size_t at = 0;     // its first byte, or its operator's
  std::string word = {};  // name, text, function or member
  double number = 0.0;    // of kNumber
  int first = 0;          // of kIndex and kSlice; negative: from the end
  int last = 0;           // of kSlice: behind it, if has_last
  bool has_last = false;
  std::vector<std::string> signs = {};
  std::vector<SyntaxNode> inner = {};  // operands, arguments, entries
};

// A name that an expression gives to a part of itself.
struct LocalName {
  std::string name;
  std::size_t at = 0;
  SyntaxNode value;
};

struct Expression {
  SourceText source;
  std::vector<LocalName> locals;  // in their order: each may use those before it
  SyntaxNode root;
};

// More than any task needs: what reads an expression calls itself once a level, and all of it is kept in memory.
inline constexpr int kDeepestExpression = 200;
inline constexpr std::size_t kLongestExpression = 1'000'000;

// Throws UserError with place.
Expression parse_expression(SourceText source);

// A name as it stands in an expression: a letter or underscore, then these or digits; no word of the language.
bool is_name(std::string_view text);

// Calls `visit` for the node and all nodes in it.
template <class Visit>
void walk(const SyntaxNode& node, const Visit& visit) {
  visit(node);
  for (const SyntaxNode& inner : node.inner) walk(inner, visit);
}
template <class Visit>
void walk(const Expression& expression, const Visit& visit) {
  for (const LocalName& local : expression.locals) walk(local.value, visit);
  walk(expression.root, visit);
}

}  // namespace cgpo
