// What was seen of a task: (s, a) → (s′ − s, r, c_1 … c_m), the newest so many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cgpo/base/aligned.hpp"
#include "cgpo/rollout/trajectory.hpp"

namespace cgpo {

// Sizes of a transition; its values stand in this order.
struct TransitionShape {
  int observations = 0;
  int actions = 0;
  int signals = 0;

  int inputs() const { return observations + actions; }
  int outputs() const { return observations + signals; }
  int width() const { return inputs() + outputs(); }
};

// Holds up to `capacity` transitions, oldest first; a further one pushes the oldest out. Memory grows with what is
// there.
class TransitionStore {
 public:
  TransitionStore(TransitionShape shape, std::int64_t capacity) : shape_(shape), capacity_(capacity) {}

  const TransitionShape& shape() const { return shape_; }
  std::int64_t size() const { return size_; }
  void append(std::span<const float> rows);  // whole transitions, one after the other

  // Where transition i, counted from the oldest, stands among the rows of data().
  std::uint32_t row(std::int64_t i) const { return static_cast<std::uint32_t>((first_ + i) % capacity_); }
  const float* data() const { return values_.data(); }
  std::ptrdiff_t width() const { return shape_.width(); }

 private:
  TransitionShape shape_;
  std::int64_t capacity_;
  std::int64_t first_ = 0;  // row of the oldest
  std::int64_t size_ = 0;
  AlignedVector<float> values_;
};

// The transitions of a batch, episode by episode: all steps that count for some signal, of environments that did not
// diverge. A signal that has stopped is NaN: there is nothing to be learned of it.
struct BatchTransitions {
  std::vector<float> training;
  std::vector<float> held_out;  // of whole episodes: every held_every-th environment, another one each iteration
};
// held_every for a share of the episodes: at least one of each iteration is held out and one is not. 0: none is, since
// none should be or there is only one.
int held_out_every(double share, int environments);
void gather_transitions(const Simulator<float>& simulator, const Batch<float>& batch, int held_every, int iteration,
                        BatchTransitions& result);

}  // namespace cgpo
