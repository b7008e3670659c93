#include "cgpo/base/program_name.hpp"

#include <filesystem>

namespace cgpo {
namespace {

std::string& stored_name() {
  static std::string name = "cgpo";
  return name;
}

}  // namespace

const std::string& program_name() { return stored_name(); }

void set_program_name(const char* argv0) {
  if (argv0 == nullptr) return;
  const std::string name = std::filesystem::path(argv0).filename().string();
  if (!name.empty()) stored_name() = name;
}

namespace {

std::string& stored_words() {
  static std::string words;
  return words;
}

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=./,:@%") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') text += "'\\'";
    text += c;
  }
  text += "'";
  return text;
}

}  // namespace

const std::string& command_words() { return stored_words(); }

void set_command_words(int argc, const char* const* argv) {
  std::string words = program_name();
  for (int i = 1; i < argc; ++i) words.append(" ").append(quoted(argv[i]));
  stored_words() = words;
}

}  // namespace cgpo
