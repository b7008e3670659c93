#include "cgpo/run/line_tail.hpp"

#include <fstream>
#include <utility>

namespace cgpo {

LineTail::News LineTail::read() {
  News news;
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(path_, missing);
  std::ifstream file(path_, std::ios::binary);
  const bool there = !missing && file.is_open();
  // The last line is looked at again: a file that was cut back may have grown beyond where it was.
  std::string text(last_.size(), '\0');
  file.seekg(static_cast<std::streamoff>(read_ - last_.size()));
  const bool goes_on = there && size >= read_ && file.read(text.data(), std::ssize(text)) && text == last_;
  if (!goes_on && read_ > 0) {
    news.from_the_start = true;
    read_ = 0;
    last_.clear();
  }
  if (!there) return news;
  file.clear();
  file.seekg(static_cast<std::streamoff>(read_));
  for (std::string line; std::getline(file, line) && !file.eof();) {
    read_ += line.size() + 1;
    news.lines.push_back(std::move(line));
  }
  if (!news.lines.empty()) last_ = news.lines.back() + "\n";
  return news;
}

}  // namespace cgpo
