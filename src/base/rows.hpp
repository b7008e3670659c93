// How batches lie in memory, everywhere: one row a quantity, one column an environment (or sample), columns contiguous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace cgpo {

// A view of rows: row i starts at data + i * stride; how many rows and columns there are is known from the context.
template <class Real>
struct Rows {
  Real* data = nullptr;
  std::ptrdiff_t stride = 0;

  Rows() = default;
  Rows(Real* data_in, std::ptrdiff_t stride_in) : data(data_in), stride(stride_in) {}
  // A view of mutable rows can be handed over where constant ones are read.
  template <class Other, class = std::enable_if_t<std::is_same_v<const Other, Real>>>
  Rows(const Rows<Other>& other) : data(other.data), stride(other.stride) {}  // NOLINT(google-explicit-constructor)

  Real* row(std::ptrdiff_t i) const { return data + i * stride; }
  // No rows stay no rows.
  Rows from_row(std::ptrdiff_t i) const { return data == nullptr ? *this : Rows(data + i * stride, stride); }
  Rows from_column(std::ptrdiff_t j) const { return data == nullptr ? *this : Rows(data + j, stride); }
};

// Distance between rows of `columns` values: whole cache lines, and an odd number of them, so that the same column of
// many rows does not fall into the same few cache sets (as it would with a power of two).
template <class Real>
constexpr std::ptrdiff_t padded_stride(std::ptrdiff_t columns) {
  constexpr std::ptrdiff_t line = 64 / static_cast<std::ptrdiff_t>(sizeof(Real));
  return (((columns + line - 1) / line) | 1) * line;
}

template <class Real>
void copy_rows(Rows<const Real> from, Rows<Real> to, int rows, int columns) {
  for (int i = 0; i < rows; ++i) std::copy_n(from.row(i), columns, to.row(i));
}

}  // namespace cgpo
