// Memory for a batch of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/rows.hpp"

namespace cgpo {

// Rows are quantities, an int of them; columns are steps × environments, which an int does not hold.
template <class Real>
class RowStore {
 public:
  RowStore() = default;
  RowStore(int rows, std::ptrdiff_t columns) { resize(rows, columns); }

  // All values become 0.
  void resize(int rows, std::ptrdiff_t columns) {
    const std::size_t size = size_of(rows, columns);  // first: what it refuses leaves all as it was
    values_.assign(size, Real(0));
    rows_ = rows;
    columns_ = columns;
    stride_ = padded_stride<Real>(columns);
  }

  int rows() const { return rows_; }
  std::ptrdiff_t columns() const { return columns_; }
  Rows<Real> view() { return {values_.data(), stride_}; }
  Rows<const Real> view() const { return {values_.data(), stride_}; }

  // What so many take. A negative size is a product that overflowed somewhere: refused, as is one beyond all memory.
  static std::size_t bytes(int rows, std::ptrdiff_t columns) { return size_of(rows, columns) * sizeof(Real); }

 private:
  static std::size_t size_of(int rows, std::ptrdiff_t columns) {
    check(rows >= 0 && columns >= 0, "rows and columns are not negative");
    constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max() / 128;  // bytes: 64 PiB
    if (columns > most || (rows > 0 && padded_stride<Real>(columns) > most / rows)) throw std::bad_array_new_length();
    // Even without rows there is an address to do arithmetic on.
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(rows * padded_stride<Real>(columns), 1));
  }

  int rows_ = 0;
  std::ptrdiff_t columns_ = 0;
  std::ptrdiff_t stride_ = 0;
  AlignedVector<Real> values_;
};

}  // namespace cgpo
