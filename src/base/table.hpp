// Tables for people.
#pragma once

#include <string>
#include <vector>

namespace cgpo {

// Rows of equal length, the first one the headings. Columns are as wide as their widest cell; the last one ends
// where it ends.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

// The same as Markdown.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace cgpo
