// Pictures: a gnuplot script, kept beside the data it reads, and what it draws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cgpo {

// Writes NAME.gnuplot to the folder and runs it there; it is to draw NAME.svg. Returns what went wrong, in a sentence.
std::string draw_picture(const std::filesystem::path& folder, const std::string& name, const std::string& script);

// The beginning of every script: output, size, separators.
std::string svg_header(const std::string& name, int width, int height);

std::string quoted(const std::string& text);  // a string of gnuplot's

const std::vector<std::string>& line_colours();  // ten that can be told apart

}  // namespace cgpo
