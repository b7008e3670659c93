// Lets whoever called for something long end it, without it knowing why: thread pools look between their tasks, and
// loops that take long themselves where they call look_for_interruption().
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

namespace cgpo {

// While it lives, what this thread computes, alone or with a pool, asks `ask` now and then; what that throws ends the
// computation, and comes out of it. Only the thread that made it asks. One within another takes its place.
class Interruption {
 public:
  explicit Interruption(std::function<void()> ask);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool happened() const { return happened_.load(std::memory_order_acquire); }
  [[noreturn]] void rethrow() const { std::rethrow_exception(failure_); }
  // Ends the computation with this; the first one counts. Any thread of it may say so.
  void end_with(std::exception_ptr failure);
  void look();

  // That of this thread, or null.
  static Interruption* current();

 private:
  using Clock = std::chrono::steady_clock;

  std::function<void()> ask_;
  Interruption* outer_;
  std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_;  // when it asks again
  std::atomic<bool> claimed_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> happened_ = false;
};

// A thread of a pool is interrupted with the one that it works for.
class InterruptedWith {
 public:
  explicit InterruptedWith(Interruption* other);
  ~InterruptedWith();
  InterruptedWith(const InterruptedWith&) = delete;
  InterruptedWith& operator=(const InterruptedWith&) = delete;

 private:
  Interruption* before_;
};

// Throws if this thread's computation is to end.
inline void look_for_interruption() {
  if (Interruption* const own = Interruption::current(); own != nullptr) [[unlikely]]
    own->look();
}

}  // namespace cgpo
