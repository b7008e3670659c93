#include "cgpo/base/interruption.hpp"

#include <utility>

namespace cgpo {
namespace {

constexpr std::chrono::milliseconds kBetweenQuestions{
    50};  // a person notices no less, and a question may cost much more

thread_local Interruption* innermost_interruption = nullptr;

}  // namespace

Interruption::Interruption(std::function<void()> ask)
    : ask_(std::move(ask)), outer_(innermost_interruption), next_(Clock::now() + kBetweenQuestions) {
  innermost_interruption = this;
}

Interruption::~Interruption() { innermost_interruption = outer_; }

Interruption* Interruption::current() { return innermost_interruption; }

void Interruption::end_with(std::exception_ptr failure) {
  if (claimed_.exchange(true)) return;
  failure_ = std::move(failure);
  happened_.store(true, std::memory_order_release);
}

void Interruption::look() {
  if (happened()) rethrow();
  if (std::this_thread::get_id() != owner_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetweenQuestions;
  try {
    ask_();
  } catch (...) {
    end_with(std::current_exception());
    throw;
  }
}

InterruptedWith::InterruptedWith(Interruption* other) : before_(innermost_interruption) {
  innermost_interruption = other;
}

InterruptedWith::~InterruptedWith() { innermost_interruption = before_; }

}  // namespace cgpo
