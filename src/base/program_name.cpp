#include "cgpo/base/program_name.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace cgpo {
namespace {

std::string& stored_name() {
  static std::string name = "cgpo";
  return name;
}

std::optional<OwnProgram>& stored_program() {
  static std::optional<OwnProgram> program;
  return program;
}

}  // namespace

// Not the file's name: what starts itself may take hours, and the program may be built anew in the meantime.
OwnProgram own_program() { return stored_program().value_or(OwnProgram{"/proc/self/exe", {program_name()}}); }

void set_own_program(OwnProgram program) { stored_program() = std::move(program); }

const std::string& program_name() { return stored_name(); }

void set_program_name(const char* argv0) {
  if (argv0 == nullptr) return;
  const std::string name = std::filesystem::path(argv0).filename().string();
  if (!name.empty()) stored_name() = name;
}

namespace {

std::vector<std::string>& stored_words() {
  static std::vector<std::string> words;
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

std::string command_words(const std::vector<std::string>& secret_keys) {
  std::string text = program_name();
  for (const std::string& word : stored_words()) {
    const auto key = std::find_if(secret_keys.begin(), secret_keys.end(),
                                  [&](const std::string& k) { return word.find(k) != std::string::npos; });
    const std::string shown = key == secret_keys.end() ? word : word.substr(0, word.find(*key)) + *key + "=…";
    text.append(" ").append(quoted(shown));
  }
  return text;
}

void set_command_words(int argc, const char* const* argv) {
  stored_words().assign(argv + std::min(argc, 1), argv + argc);
}

}  // namespace cgpo
