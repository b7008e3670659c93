#include "cgpo/run/program_name.hpp"

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

}  // namespace cgpo
