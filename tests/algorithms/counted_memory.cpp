#include "counted_memory.hpp"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace cgpo::counted {

std::atomic<long long> asked{0};
std::atomic<long long> live{0};
std::atomic<long long> peak{0};
std::atomic<long long> fail_after{-1};

namespace {

bool fails() {
  if (fail_after.load() < 0) return false;
  long long left = fail_after.load();
  while (left > 0 && !fail_after.compare_exchange_weak(left, left - 1)) {
  }
  return left == 0;
}

void* book(void* memory, std::size_t size) {
  if (memory == nullptr) throw std::bad_alloc();
  asked += static_cast<long long>(size);
  const long long now = live += static_cast<long long>(::malloc_usable_size(memory));
  long long most = peak.load();
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void give_back(void* memory) {
  if (memory == nullptr) return;
  live -= static_cast<long long>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace
}  // namespace cgpo::counted

void* operator new(std::size_t size) {
  return cgpo::counted::book(cgpo::counted::fails() ? nullptr : std::malloc(size), size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  const std::size_t whole = (size + step - 1) / step * step;
  return cgpo::counted::book(cgpo::counted::fails() ? nullptr : std::aligned_alloc(step, whole), size);
}
void operator delete(void* memory) noexcept { cgpo::counted::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { cgpo::counted::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { cgpo::counted::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { cgpo::counted::give_back(memory); }
