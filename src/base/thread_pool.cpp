#include "cgpo/base/thread_pool.hpp"

#include <utility>

namespace cgpo {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
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
    busy_ = static_cast<int>(workers_.size());
    ++generation_;
  }
  if (!workers_.empty()) wake_.notify_all();
  take_tasks();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    take_tasks();
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
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
