#include "cgpo/campaign/gnuplot.hpp"

#include <fmt/format.h>
#include <system_error>

#include "cgpo/base/file.hpp"
#include "cgpo/base/process.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {

namespace fs = std::filesystem;

std::string draw_picture(const fs::path& folder, const std::string& name, const std::string& script) {
  std::error_code ignored;
  fs::remove(folder / (name + ".svg"), ignored);  // one of older numbers would be worse than none
  write_file_atomically(folder / (name + ".gnuplot"), script);
  const fs::path output = folder / (name + ".gnuplot.out");
  // -d: without what a file beside the script may say about how gnuplot begins.
  const int code = run_program({"gnuplot", "-d", name + ".gnuplot"}, folder, output);
  if (code == 127) {
    fs::remove(output, ignored);
    return fmt::format(
        "gnuplot is not installed, so '{}' has the curves as CSV only (Debian: apt-get install gnuplot-nox)",
        folder.string());
  }
  if (code != 0) return fmt::format("gnuplot could not draw the curves; what it says is in '{}'", output.string());
  fs::remove(output, ignored);
  return "";
}

std::string svg_header(const std::string& name, int width, int height) {
  return fmt::format(
      "# `gnuplot {0}.gnuplot`, in this folder, draws {0}.svg.\n"
      "set datafile separator ','\nset datafile missing 'nan'\n"
      "set terminal svg noenhanced size {1},{2} font 'sans,12' background 'white'\nset output '{0}.svg'\n"
      "set grid lc rgb '#dddddd'\nset key samplen 2\n",
      name, width, height);
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  // The end of a line would end the string, and begin a command.
  for (const char c : printable(text)) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

const std::vector<std::string>& line_colours() {
  static const std::vector<std::string> colours = {"#1f6fb4", "#d95f02", "#1b9e77", "#7b3294", "#c51b7d",
                                                   "#8c510a", "#666666", "#e6ab02", "#01665e", "#e31a1c"};
  return colours;
}

}  // namespace cgpo
