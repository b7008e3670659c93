#include "cgpo/base/tensors.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include "cgpo/base/checksum.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/base/version.hpp"

namespace cgpo {
namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little endian");

struct TypeName {
  Tensor::Type type;
  const char* name;
  std::size_t size;
};
constexpr TypeName kTypes[] = {
    {Tensor::Type::kF32, "F32", 4}, {Tensor::Type::kF64, "F64", 8}, {Tensor::Type::kI64, "I64", 8}};

const TypeName& describe(Tensor::Type type) {
  for (const TypeName& entry : kTypes) {
    if (entry.type == type) return entry;
  }
  throw std::logic_error("unknown tensor type");
}

template <class T>
void put_values(Tensors& tensors, const std::string& name, Tensor::Type type, std::span<const T> values) {
  Tensor& tensor = tensors.entries[name];
  tensor.type = type;
  tensor.shape = {static_cast<std::int64_t>(values.size())};
  tensor.bytes.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
}

template <class T>
void get_values(const Tensors& tensors, const std::string& name, Tensor::Type type, std::span<T> values) {
  const auto found = tensors.entries.find(name);
  if (found == tensors.entries.end()) throw UserError("the checkpoint has no entry '{}'", name);
  const Tensor& tensor = found->second;
  if (tensor.type != type || tensor.bytes.size() != values.size_bytes()) {
    throw UserError("the checkpoint's entry '{}' has {} bytes of {}, expected {} bytes of {}", name,
                    tensor.bytes.size(), describe(tensor.type).name, values.size_bytes(), describe(type).name);
  }
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size_bytes());
}

// ---- the file ------------------------------------------------------------------------------------------------------

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "checksum";
constexpr const char* kChecksumOf = "checksum/";
constexpr std::uint64_t kLongestHeader = 16U << 20U;  // some 100,000 arrays

// Why a file cannot be used; the caller knows its name.
struct Unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `metadata` without its own.
std::string header_checksum(const std::map<std::string, std::string>& metadata,
                            const std::map<std::string, Tensor>& entries) {
  std::string text;
  const auto add = [&](std::string_view word) { text.append(word).push_back('\0'); };
  for (const auto& [key, value] : metadata) {
    if (key == kChecksum) continue;
    add(key);
    add(value);
  }
  for (const auto& [name, tensor] : entries) {
    add(name);
    add(describe(tensor.type).name);
    for (const std::int64_t extent : tensor.shape) add(fmt::format("{}", extent));
    add("");
  }
  return checksum_text(text);
}

// With no name twice in one object.
Json parse_header(std::string_view text) {
  if (!parse_json(text).is_object()) throw Unusable("its header is not JSON");
  std::vector<std::set<std::string>> names;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second) {
      throw Unusable("its header has a name twice");
    }
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch);
}

int format_of(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find("file_format");
  if (found == metadata.end()) return 1;
  const std::string& text = found->second;
  int format = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), format);
  if (error != std::errc() || end != text.data() + text.size() || format < 2) {
    throw Unusable("its header names no format");
  }
  return format;
}

// Bytes that an array of this shape has.
std::uint64_t size_of(const std::vector<std::int64_t>& shape, std::uint64_t size) {
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, static_cast<std::uint64_t>(extent), &size)) {
      throw Unusable("an entry's shape is out of range");
    }
  }
  return size;
}

struct Piece {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Tensor tensor = {};
};

Piece read_piece(const std::string& name, const Json& entry) {
  Piece piece{.name = name};
  const auto dtype = entry.at("dtype").get<std::string>();
  const TypeName* type = nullptr;
  for (const TypeName& candidate : kTypes) {
    if (dtype == candidate.name) type = &candidate;
  }
  if (type == nullptr) throw Unusable("it holds a type of number that this program does not write");
  piece.tensor.type = type->type;
  const auto whole = [](const Json& value) {
    if (!value.is_number_integer()) throw Unusable("an entry's shape or place is not a list of whole numbers");
    return value.get<std::int64_t>();
  };
  for (const Json& extent : entry.at("shape").get_ref<const Json::array_t&>()) {
    piece.tensor.shape.push_back(whole(extent));
  }
  const Json::array_t& offsets = entry.at("data_offsets").get_ref<const Json::array_t&>();
  if (offsets.size() != 2 || whole(offsets[0]) < 0 || whole(offsets[1]) < whole(offsets[0])) {
    throw Unusable("an entry has no place in the file");
  }
  piece.begin = static_cast<std::uint64_t>(whole(offsets[0]));
  piece.end = static_cast<std::uint64_t>(whole(offsets[1]));
  if (piece.end - piece.begin != size_of(piece.tensor.shape, type->size)) {
    throw Unusable("an entry's size does not fit its shape");
  }
  return piece;
}

// The arrays lie one after the other, and nothing lies between or behind them.
void cut_out(const Json& header, std::string_view data, Tensors& tensors) {
  std::vector<Piece> pieces;
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadata) pieces.push_back(read_piece(name, entry));
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t place = 0;
  for (Piece& piece : pieces) {
    if (piece.begin != place) throw Unusable("its entries do not lie one after the other");
    if (piece.end > data.size()) throw Unusable("it is truncated");
    place = piece.end;
    piece.tensor.bytes.resize(piece.end - piece.begin);
    if (piece.begin != piece.end) {
      std::memcpy(piece.tensor.bytes.data(), data.data() + piece.begin, piece.end - piece.begin);
    }
    tensors.entries[piece.name] = std::move(piece.tensor);
  }
  if (place != data.size()) throw Unusable("it is longer than its header says");
}

// Compares the checksums, and takes them out of the metadata. A file of format 1 has none.
void take_checksums(Tensors& tensors) {
  std::map<std::string, std::string>& metadata = tensors.metadata;
  const auto any = std::find_if(metadata.begin(), metadata.end(),
                                [](const auto& entry) { return entry.first.starts_with(kChecksum); });
  if (tensors.file_format == 1 && any == metadata.end()) return;
  for (const auto& [name, tensor] : tensors.entries) {
    const auto found = metadata.find(kChecksumOf + name);
    if (found == metadata.end()) throw Unusable(fmt::format("there is no checksum of its entry '{}'", name));
    if (found->second != checksum_text(tensor.bytes)) {
      throw Unusable(fmt::format("its entry '{}' is damaged, the checksum differs", name));
    }
  }
  const auto found = metadata.find(kChecksum);
  if (found == metadata.end() || found->second != header_checksum(metadata, tensors.entries)) {
    throw Unusable("its header is damaged, the checksum differs");
  }
  std::erase_if(metadata, [](const auto& entry) {
    return entry.first == kChecksum || entry.first.starts_with(kChecksumOf) || entry.first == "file_format";
  });
}

}  // namespace

void Tensors::put(const std::string& name, std::span<const float> values) {
  put_values(*this, name, Tensor::Type::kF32, values);
}
void Tensors::put(const std::string& name, std::span<const double> values) {
  put_values(*this, name, Tensor::Type::kF64, values);
}
void Tensors::put(const std::string& name, std::span<const std::int64_t> values) {
  put_values(*this, name, Tensor::Type::kI64, values);
}
void Tensors::get(const std::string& name, std::span<float> values) const {
  get_values(*this, name, Tensor::Type::kF32, values);
}
void Tensors::get(const std::string& name, std::span<double> values) const {
  get_values(*this, name, Tensor::Type::kF64, values);
}
void Tensors::get(const std::string& name, std::span<std::int64_t> values) const {
  get_values(*this, name, Tensor::Type::kI64, values);
}
double Tensors::number(const std::string& name) const {
  double value = 0.0;
  get(name, std::span(&value, 1));
  return value;
}
std::int64_t Tensors::integer(const std::string& name) const {
  std::int64_t value = 0;
  get(name, std::span(&value, 1));
  return value;
}

std::vector<double> Tensors::numbers(const std::string& name) const {
  const auto found = entries.find(name);
  std::vector<double> values(found == entries.end() ? 0 : found->second.bytes.size() / sizeof(double));
  get(name, std::span(values));
  return values;
}

std::string format_tensors(const Tensors& tensors) {
  std::map<std::string, std::string> metadata = tensors.metadata;
  metadata["file_format"] = fmt::format("{}", kFileFormat);
  for (const auto& [name, tensor] : tensors.entries) metadata[kChecksumOf + name] = checksum_text(tensor.bytes);
  metadata[kChecksum] = header_checksum(metadata, tensors.entries);
  Json header = Json::object();
  header[kMetadata] = metadata;
  std::size_t offset = 0;
  for (const auto& [name, tensor] : tensors.entries) {
    const std::size_t end = offset + tensor.bytes.size();
    header[name] = {{"dtype", describe(tensor.type).name}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data start on a multiple of 8

  std::string file;
  file.reserve(8 + text.size() + offset);
  const std::uint64_t length = text.size();
  file.append(reinterpret_cast<const char*>(&length), sizeof(length));
  file.append(text);
  for (const auto& [name, tensor] : tensors.entries) {
    file.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return file;
}

Tensors parse_tensors(std::string_view file, const std::string& name) {
  const auto broken = [&](const std::string& what) {
    return UserError("'{}' is not a usable checkpoint: {}", name, what);
  };
  try {
    std::uint64_t length = 0;
    if (file.size() < sizeof(length)) throw Unusable("it is shorter than its header");
    std::memcpy(&length, file.data(), sizeof(length));
    file.remove_prefix(sizeof(length));
    if (length > file.size() || length > kLongestHeader) throw Unusable("it is truncated, or not a safetensors file");
    const Json header = parse_header(file.substr(0, length));
    file.remove_prefix(length);

    Tensors tensors;
    if (const auto found = header.find(kMetadata); found != header.end()) {
      tensors.metadata = found->get<std::map<std::string, std::string>>();
    }
    tensors.file_format = format_of(tensors.metadata);
    if (tensors.file_format > kFileFormat) {
      const auto program = tensors.metadata.find("program");
      throw UserError("'{}' was written by a newer program, {}; this one is {}", name,
                      program == tensors.metadata.end() ? "which it does not name" : program->second, kVersion);
    }
    cut_out(header, file, tensors);
    take_checksums(tensors);
    return tensors;
  } catch (const Unusable& error) {
    throw broken(error.what());
  } catch (const Json::exception&) {
    throw broken("its header does not describe tensors");
  }
}

void write_tensors(const std::filesystem::path& path, const Tensors& tensors) {
  write_file_atomically(path, format_tensors(tensors));
}

Tensors read_tensors(const std::filesystem::path& path) { return parse_tensors(read_file(path), path.string()); }

}  // namespace cgpo
