#include "cgpo/base/thread_pool.hpp"

#include <system_error>
#include <utility>

#include "cgpo/base/error.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cgpo {
namespace {

// Runs follow each other within microseconds, and to sleep and wake takes tens of them: so wait awake for about as
// long.
template <class Condition>
bool comes_soon(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  return false;
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : ThreadPool(threads, [](std::function<void()> body) { return std::thread(std::move(body)); }) {}

ThreadPool::ThreadPool(int threads, const MakeThread& make_thread) {
  workers_.reserve(static_cast<std::size_t>(std::max(threads, 1)));  // a thread in no list could not be joined
  try {
    for (int i = 1; i < threads; ++i) workers_.push_back(make_thread([this] { work(); }));
  } catch (const std::system_error& error) {
    const int made = size();
    stop();  // no destructor runs for what was not made
    throw UserError("the system makes only {} of {} threads ({}); use fewer: --threads {}", made, threads,
                    error.code().message(), made);
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_erased(int count, void* context, Call call) {
  {
    const std::lock_guard lock(mutex_);
    call_ = call;
    context_ = context;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    failed_index_ = -1;
    failure_ = nullptr;
    busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);  // publishes all of the above
  }
  if (!workers_.empty()) wake_.notify_all();
  take_tasks();
  const auto all_done = [this] { return busy_.load(std::memory_order_acquire) == 0; };
  if (!comes_soon(all_done)) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, all_done);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  const auto called = [&] { return generation_.load(std::memory_order_acquire) != seen; };
  while (true) {
    if (!comes_soon(called)) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || called(); });
      if (stopping_) return;
    }
    ++seen;  // run() returns only when every worker has seen its generation
    take_tasks();
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);  // not between the caller's look and its sleep
      done_.notify_one();
    }
  }
}

void ThreadPool::take_tasks() {
  for (int i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
    try {
      call_(context_, i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failed_index_ < 0 || i < failed_index_) {
        failed_index_ = i;
        failure_ = std::current_exception();
      }
    }
  }
}

}  // namespace cgpo
