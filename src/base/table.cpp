#include "cgpo/base/table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cgpo/base/text.hpp"

namespace cgpo {

std::string text_table(const std::vector<std::vector<std::string>>& given) {
  // Cells may hold names out of files, and none of them is to make a line of its own.
  std::vector<std::vector<std::string>> rows = given;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}", row[i], widths[i] + 2);
    }
    text += "\n";
  }
  return text;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text.append(" ").append(printable(cell)).append(" |");
    return text + "\n";
  };
  std::string text = line(rows.front()) + line(std::vector<std::string>(rows.front().size(), "---"));
  for (std::size_t i = 1; i < rows.size(); ++i) text += line(rows[i]);
  return text;
}

}  // namespace cgpo
