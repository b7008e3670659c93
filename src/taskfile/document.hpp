// Private to this folder: a TOML text with places. Tables are read key by key; what nobody knows is refused.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <vector>

#include "cgpo/taskfile/definition.hpp"

namespace cgpo {

class Document {
 public:
  // Throws UserError, with place, for what is not TOML. The text must outlive it.
  Document(std::string_view text, std::string file);

  const toml::table& root() const { return root_; }
  const std::string& file() const { return file_; }
  static Spot spot_of(const toml::node& node);
  [[noreturn]] void fail(const Spot& spot, const std::string& sentence) const;

  // A text with the place of each of its letters; a number is an expression, too.
  SourceText source_of(const toml::node& node, const std::string& key) const;

 private:
  std::size_t offset_of(const Spot& spot) const;

  std::string_view text_;
  std::string file_;
  std::vector<std::size_t> lines_;  // where each begins
  toml::table root_;
};

// One table, whose keys are known.
class TableReader {
 public:
  // `title`: "[robot]", for messages; empty: the top of the file. Throws UserError for a key that is not among `known`.
  TableReader(const Document& document, const toml::table& table, std::string title,
              const std::vector<std::string>& known);

  bool has(const char* key) const { return table_.contains(key); }
  Spot spot(const char* key) const;  // of the value, or of the table if there is none

  std::string text(const char* key, const std::string& otherwise = {}) const;
  bool flag(const char* key, bool otherwise) const;
  std::optional<double> number(const char* key, double low, double high) const;
  std::optional<int> whole(const char* key, int low, int high) const;
  std::optional<Expression> expression(const char* key) const;
  Expression needed_expression(const char* key) const;
  // Every key of a table in it, as an expression, in the order of the file. None: there is no such table.
  std::vector<NamedExpression> expressions(const char* key) const;
  const toml::table* table(const char* key) const;  // null: there is none
  // Of [[key]], with their titles; none: there is no such array.
  std::vector<const toml::table*> tables(const char* key) const;

  [[noreturn]] void fail(const Spot& spot, const std::string& sentence) const { document_.fail(spot, sentence); }
  [[noreturn]] void missing(const char* key, const std::string& what) const;
  const toml::table& raw() const { return table_; }
  const Document& document() const { return document_; }

 private:
  std::string name(const char* key) const;

  const Document& document_;
  const toml::table& table_;
  std::string title_;
};

}  // namespace cgpo
