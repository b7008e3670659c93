#include "cgpo/kernel/x86/executable_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <sys/mman.h>
#include <system_error>

namespace cgpo {

ExecutableMemory::ExecutableMemory(std::span<const std::byte> code) : pages_(MAP_FAILED), size_(code.size()) {
  pages_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages_ == MAP_FAILED) {
    if (errno == ENOMEM) throw std::bad_alloc();
    throw std::system_error(errno, std::generic_category(), "no memory for machine code");
  }
  std::copy(code.begin(), code.end(), static_cast<std::byte*>(pages_));
  if (mprotect(pages_, size_, PROT_READ | PROT_EXEC) != 0) {
    const int reason = errno;
    munmap(pages_, size_);
    if (reason == ENOMEM) throw std::bad_alloc();
    throw std::system_error(reason, std::generic_category(), "this system does not let us run machine code we made");
  }
}

ExecutableMemory::~ExecutableMemory() { munmap(pages_, size_); }

}  // namespace cgpo
