// Arrays of NumPy that a call hands out.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <nanobind/ndarray.h>

#include "bindings.hpp"

namespace cgpo::python {

// Fresh memory, to be filled without the GIL and handed over with it.
template <class Value>
class NewArray {
 public:
  explicit NewArray(std::size_t size) : values_(new Value[size]) {}
  Value* data() const { return values_.get(); }

  template <std::size_t rank>
  nb::ndarray<nb::numpy, Value> hand_over(const std::array<std::size_t, rank>& shape) {
    Value* const values = values_.release();
    const nb::capsule owner(values, [](void* kept) noexcept { delete[] static_cast<Value*>(kept); });
    return nb::ndarray<nb::numpy, Value>(values, rank, shape.data(), owner);
  }

 private:
  std::unique_ptr<Value[]> values_;
};

}  // namespace cgpo::python
