// Private to this folder: writes messages in the wire format of protobuf, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cgpo {

class Message {
 public:
  Message& whole(int field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  Message& text(int field, std::string_view value) {  // and bytes
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, int wire_type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(wire_type));
  }

  // Seven bits a byte, the lowest first; the eighth says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace cgpo
