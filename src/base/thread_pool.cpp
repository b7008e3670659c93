#include "cgpo/base/thread_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <utility>

#include "cgpo/base/error.hpp"
#include "cgpo/base/interruption.hpp"

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

// How often this process has come out of a fork since it began to count.
std::atomic<int> forks{0};

void count_forks() {
  static const int counted = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(counted);
}

}  // namespace

struct ThreadPool::Crew {
  void stop() noexcept;  // and join those that were made
  void run(int tasks, void* with, Call what);
  void work();
  void take_tasks();

  int born = forks.load(std::memory_order_relaxed);  // after so many forks
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::atomic<std::uint64_t> generation{0};  // of run(); workers wait for it to move
  std::atomic<int> busy{0};                  // workers that still run tasks of this generation
  bool stopping = false;

  Call call = nullptr;
  void* context = nullptr;
  int count = 0;
  std::atomic<int> next{0};
  int failed_index = -1;
  std::exception_ptr failure;
  Interruption* interruption = nullptr;  // of the caller
};

ThreadPool::ThreadPool(int threads)
    : ThreadPool(threads, [](std::function<void()> body) { return std::thread(std::move(body)); }) {}

ThreadPool::ThreadPool(int threads, const MakeThread& make_thread)
    : threads_(threads), make_thread_(make_thread), crew_(hire()) {}

std::unique_ptr<ThreadPool::Crew> ThreadPool::hire() const {
  count_forks();
  auto crew = std::make_unique<Crew>();
  std::vector<std::thread>& workers = crew->workers;
  workers.reserve(static_cast<std::size_t>(size()));  // a thread in no list could not be joined
  try {
    for (int i = 1; i < threads_; ++i) workers.push_back(make_thread_([own = crew.get()] { own->work(); }));
  } catch (const std::system_error& error) {
    const std::size_t made = workers.size() + 1;
    crew->stop();  // nobody else ends them
    throw UserError("the system makes only {} of {} threads ({}); use fewer: --threads {}", made, threads_,
                    error.code().message(), made);
  } catch (...) {
    crew->stop();
    throw;
  }
  return crew;
}

ThreadPool::~ThreadPool() {
  if (crew_->born == forks.load(std::memory_order_relaxed)) {
    crew_->stop();
  } else {
    static_cast<void>(crew_.release());  // see run_erased
  }
}

void ThreadPool::run_erased(int count, void* context, Call call) {
  if (crew_->born != forks.load(std::memory_order_relaxed)) [[unlikely]] {
    // Its threads are the parent's. They may have held its mutex as they were left behind, and they cannot be joined,
    // so it stays as it is.
    std::unique_ptr<Crew> anew = hire();
    static_cast<void>(crew_.release());
    crew_ = std::move(anew);
  }
  crew_->run(count, context, call);
}

void ThreadPool::Crew::stop() noexcept {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread& worker : workers) worker.join();
}

void ThreadPool::Crew::run(int tasks, void* with, Call what) {
  {
    const std::lock_guard lock(mutex);
    call = what;
    context = with;
    count = tasks;
    next.store(0, std::memory_order_relaxed);
    failed_index = -1;
    failure = nullptr;
    interruption = Interruption::current();
    busy.store(static_cast<int>(workers.size()), std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);  // publishes all of the above
  }
  if (!workers.empty()) wake.notify_all();
  take_tasks();
  const auto all_done = [this] { return busy.load(std::memory_order_acquire) == 0; };
  if (!comes_soon(all_done)) {
    std::unique_lock lock(mutex);
    done.wait(lock, all_done);
  }
  const std::exception_ptr failed = std::exchange(failure, nullptr);
  if (interruption != nullptr && interruption->happened()) interruption->rethrow();
  if (failed) std::rethrow_exception(failed);
}

void ThreadPool::Crew::work() {
  std::uint64_t seen = 0;
  const auto called = [&] { return generation.load(std::memory_order_acquire) != seen; };
  while (true) {
    if (!comes_soon(called)) {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stopping || called(); });
      if (stopping) return;
    }
    ++seen;  // run() returns only when every worker has seen its generation
    {
      const InterruptedWith caller(interruption);
      take_tasks();
    }
    if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex);  // not between the caller's look and its sleep
      done.notify_one();
    }
  }
}

void ThreadPool::Crew::take_tasks() {
  for (int i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
    try {
      look_for_interruption();
      call(context, i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (failed_index < 0 || i < failed_index) {
        failed_index = i;
        failure = std::current_exception();
      }
      if (interruption != nullptr && interruption->happened()) next.store(count);  // nobody begins another
    }
  }
}

}  // namespace cgpo
