// Private to this folder: which value each register holds.
#pragma once

#include <algorithm>
#include <vector>

namespace cgpo {

class RegisterFile {
 public:
  static constexpr int kEmpty = -1;

  // Registers first … first + count − 1.
  RegisterFile(int first, int count) : first_(first), holds_(static_cast<std::size_t>(count), kEmpty) {
    for (int i = count - 1; i >= 0; --i) free_.push_back(first + i);
  }

  int value(int reg) const { return holds_[static_cast<std::size_t>(reg - first_)]; }
  bool any_free() const { return !free_.empty(); }

  int take_free(int value) {
    const int reg = free_.back();
    free_.pop_back();
    replace(reg, value);
    return reg;
  }
  void replace(int reg, int value) { holds_[static_cast<std::size_t>(reg - first_)] = value; }
  void release(int reg) {
    replace(reg, kEmpty);
    free_.push_back(reg);
  }
  void take(int reg, int value) {  // a free one, of which the caller knows
    free_.erase(std::find(free_.begin(), free_.end(), reg));
    replace(reg, value);
  }

  // The occupied register with the largest rank(value).
  template <class Rank>
  int best(Rank rank) const {
    int found = first_;
    auto highest = rank(holds_[0]);
    for (std::size_t i = 1; i < holds_.size(); ++i) {
      const auto here = rank(holds_[i]);
      if (here > highest) {
        highest = here;
        found = first_ + static_cast<int>(i);
      }
    }
    return found;
  }

 private:
  int first_;
  std::vector<int> holds_;
  std::vector<int> free_;
};

}  // namespace cgpo
