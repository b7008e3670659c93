// Named arrays and the file they live in: the safetensors layout (8-byte little-endian length, JSON header, raw data).
//
// The header's free text (__metadata__) has, beside what is in Tensors::metadata: "file_format", the number below;
// "checksum/NAME" of every array's bytes; and "checksum" of all other free text and of all names, types and shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgpo {

struct Tensor {
  enum class Type { kF32, kF64, kI64 };
  Type type = Type::kF32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // little endian, as large as shape and type say
};

// What a checkpoint holds. Values are stored exactly as they are, so a state that was saved and loaded is the same
// state to the last bit.
class Tensors {
 public:
  std::map<std::string, std::string> metadata;  // free text: versions, names
  std::map<std::string, Tensor> entries;
  int file_format = 0;  // of the file that this was read from; 0: none, 1: one without checksums, of cgpo 0.1.0

  void put(const std::string& name, std::span<const float> values);
  void put(const std::string& name, std::span<const double> values);
  void put(const std::string& name, std::span<const std::int64_t> values);
  void put(const std::string& name, double value) { put(name, std::span<const double>(&value, 1)); }
  void put(const std::string& name, std::int64_t value) { put(name, std::span<const std::int64_t>(&value, 1)); }

  // Fills `values`; throws UserError if the entry is missing or has another type or size.
  void get(const std::string& name, std::span<float> values) const;
  void get(const std::string& name, std::span<double> values) const;
  void get(const std::string& name, std::span<std::int64_t> values) const;
  double number(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  std::vector<double> numbers(const std::string& name) const;  // however many there are
  bool contains(const std::string& name) const { return entries.contains(name); }
};

inline constexpr int kFileFormat = 2;

// Writes to a temporary name beside `path`, flushes it to the disk and renames it: the file at `path` is always whole.
void write_tensors(const std::filesystem::path& path, const Tensors& tensors);

// Throws UserError, naming the file, if it is missing, truncated, damaged, not in this layout or of a newer program.
Tensors read_tensors(const std::filesystem::path& path);

// The same without a file; `name` is for messages.
std::string format_tensors(const Tensors& tensors);
Tensors parse_tensors(std::string_view file, const std::string& name);

}  // namespace cgpo
