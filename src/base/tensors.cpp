#include "cgpo/base/tensors.hpp"

#include <bit>
#include <cstring>
#include <numeric>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"

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

void write_tensors(const std::filesystem::path& path, const Tensors& tensors) {
  Json header = Json::object();
  if (!tensors.metadata.empty()) header["__metadata__"] = tensors.metadata;
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
  write_file_atomically(path, file);
}

Tensors read_tensors(const std::filesystem::path& path) { return parse_tensors(read_file(path), path.string()); }

Tensors parse_tensors(std::string_view file, const std::string& name) {
  const auto broken = [&](const char* what) { return UserError("'{}' is not a usable checkpoint: {}", name, what); };
  std::uint64_t length = 0;
  if (file.size() < sizeof(length)) throw broken("it is shorter than its header");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > file.size() - sizeof(length)) throw broken("it is truncated, or not a safetensors file");
  const std::size_t data = sizeof(length) + length;
  const Json header = parse_json(file.substr(sizeof(length), length));
  if (!header.is_object()) throw broken("its header is not JSON");

  Tensors tensors;
  try {
    for (const auto& [key, entry] : header.items()) {
      if (key == "__metadata__") {
        tensors.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      Tensor tensor;
      const auto dtype = entry.at("dtype").get<std::string>();
      const TypeName* type = nullptr;
      for (const TypeName& candidate : kTypes) {
        if (dtype == candidate.name) type = &candidate;
      }
      if (type == nullptr) throw broken("it holds a type of number that this program does not write");
      tensor.type = type->type;
      tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
      const auto begin = entry.at("data_offsets").at(0).get<std::uint64_t>();
      const auto end = entry.at("data_offsets").at(1).get<std::uint64_t>();
      std::uint64_t expected = type->size;
      for (const std::int64_t extent : tensor.shape) expected *= static_cast<std::uint64_t>(extent);
      if (begin > end || end - begin != expected) throw broken("an entry's size does not fit its shape");
      if (end > file.size() - data) throw broken("it is truncated");
      tensor.bytes.resize(end - begin);
      if (begin != end) std::memcpy(tensor.bytes.data(), file.data() + data + begin, end - begin);
      tensors.entries[key] = std::move(tensor);
    }
  } catch (const Json::exception&) {
    throw broken("its header does not describe tensors");
  }
  return tensors;
}

}  // namespace cgpo
