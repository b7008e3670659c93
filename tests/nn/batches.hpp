// Random batches and central differences for the tests of src/nn.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/nn/row_store.hpp"

namespace cgpo {

template <class Real>
std::vector<Real> random_vector(int size, std::uint32_t key, double scale = 1.0) {
  RandomStream stream(1, Purpose::kTest, key);
  std::vector<Real> values(size);
  for (Real& value : values) value = static_cast<Real>(scale * stream.normal());
  return values;
}

template <class Real>
RowStore<Real> random_rows(int rows, int columns, std::uint32_t key) {
  RandomStream stream(2, Purpose::kTest, key);
  RowStore<Real> store(rows, columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) store.view().row(r)[c] = static_cast<Real>(stream.normal());
  }
  return store;
}

// (f(x+h) - f(x-h)) / 2h, and once more with h/2 to take out the h^2 term (Richardson).
template <class Function>
double central_difference(double& x, Function&& f, double h = 1e-3) {
  const double start = x;
  const auto slope = [&](double step) {
    x = start + step;
    const double up = f();
    x = start - step;
    const double down = f();
    x = start;
    return (up - down) / (2.0 * step);
  };
  const double coarse = slope(h);
  return (4.0 * slope(h / 2) - coarse) / 3.0;
}

// Largest |a - b| over the largest |b|.
template <class A, class B>
double relative_error(const A& a, const B& b) {
  double error = 0.0;
  double size = 1e-300;
  for (std::size_t i = 0; i < b.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    size = std::max(size, std::abs(static_cast<double>(b[i])));
  }
  return error / size;
}

}  // namespace cgpo
