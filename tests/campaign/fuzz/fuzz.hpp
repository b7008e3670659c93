// What the fuzz targets share. A target is one function, CGPO_FUZZ, that gives the fuzzer's bytes to a reader: a
// UserError is an answer, any other exception ends the process and is a finding, as is what a sanitizer sees or
// `require` refuses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

#include "cgpo/base/error.hpp"

#define CGPO_FUZZ(input)                                                             \
  static void fuzz_one(std::string_view input);                                      \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size); \
  int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {           \
    fuzz_one(std::string_view(reinterpret_cast<const char*>(data), size));           \
    return 0;                                                                        \
  }                                                                                  \
  static void fuzz_one(std::string_view input)

namespace cgpo::fuzz {

// What must hold whatever the input was.
inline void require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken rule: %s\n", rule);
  std::abort();
}

// What the reader made of the input; nothing where it refused.
template <class Read>
auto accepted(Read&& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const UserError& error) {
    require(*error.what() != '\0', "a refusal says why");
    return std::nullopt;
  }
}

// The same of a reader that returns nothing.
template <class Read>
bool passes(Read&& read) {
  return accepted([&] { return read(), true; }).has_value();
}

inline bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

// Bytes as decisions; zeros when they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  unsigned byte() { return integer<std::uint8_t>(); }
  unsigned below(unsigned count) { return (count <= 256 ? byte() : integer<std::uint16_t>()) % count; }
  template <class T>
  T integer() {
    T value{};
    const std::size_t size = std::min(sizeof(T), bytes_.size());
    if (size > 0) std::memcpy(&value, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return value;
  }
  // Often small and round, sometimes any bits at all.
  double number() {
    const unsigned kind = byte();
    if (kind < 128) return static_cast<double>(integer<std::int8_t>());
    if (kind < 192) return static_cast<double>(integer<std::int16_t>()) / 1024.0;
    if (kind < 224) return static_cast<double>(integer<std::int8_t>()) * std::pow(10.0, integer<std::int8_t>() % 40);
    return integer<double>();
  }
  std::string_view text(std::size_t most) {
    const std::size_t wanted = std::min<std::size_t>(byte(), most);
    const std::string_view taken = bytes_.substr(0, wanted);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// A folder of this process in memory, for readers that take a path. It goes with the process.
class ScratchFolder {
 public:
  ScratchFolder() {
    const std::string base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    path_ = base + "/cgpo-fuzz-" + std::to_string(::getpid());
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The file with this content; what it had before is gone.
  std::filesystem::path file(const std::string& name, std::string_view content) const {
    const std::filesystem::path path = path_ / name;
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace cgpo::fuzz
