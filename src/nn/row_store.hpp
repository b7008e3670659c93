// Memory for a batch of rows.
#pragma once

#include <algorithm>

#include "cgpo/base/aligned.hpp"
#include "cgpo/base/rows.hpp"

namespace cgpo {

template <class Real>
class RowStore {
 public:
  RowStore() = default;
  RowStore(int rows, int columns) { resize(rows, columns); }

  // All values become 0.
  void resize(int rows, int columns) {
    rows_ = rows;
    columns_ = columns;
    stride_ = padded_stride<Real>(columns);
    // Even without rows there is an address to do arithmetic on.
    values_.assign(static_cast<std::size_t>(std::max<std::ptrdiff_t>(rows * stride_, 1)), Real(0));
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  Rows<Real> view() { return {values_.data(), stride_}; }
  Rows<const Real> view() const { return {values_.data(), stride_}; }

 private:
  int rows_ = 0;
  int columns_ = 0;
  std::ptrdiff_t stride_ = 0;
  AlignedVector<Real> values_;
};

}  // namespace cgpo
