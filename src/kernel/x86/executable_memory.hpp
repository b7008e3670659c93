// Private to this folder: memory that holds machine code.
#pragma once

#include <cstddef>
#include <span>

namespace cgpo {

// A copy of the code in pages of its own, which are never writable and executable at once.
class ExecutableMemory {
 public:
  // std::bad_alloc if there is no memory, std::system_error if the system forbids it.
  explicit ExecutableMemory(std::span<const std::byte> code);
  ~ExecutableMemory();
  ExecutableMemory(const ExecutableMemory&) = delete;
  ExecutableMemory& operator=(const ExecutableMemory&) = delete;

  void* begin() const { return pages_; }

 private:
  void* pages_;
  std::size_t size_;
};

}  // namespace cgpo
