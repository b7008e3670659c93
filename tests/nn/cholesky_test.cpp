#include "cgpo/nn/cholesky.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

TEST(Cholesky, SolvesRandomSystemsOfEverySize) {
  RandomStream random(3, Purpose::kTest);
  for (const int size : {1, 2, 3, 7, 31, 32, 33, 64, 65, 130}) {
    std::vector<double> root(at(size * size)), matrix(root.size(), 0.0), x(at(size)), b(at(size), 0.0);
    for (double& value : root) value = random.normal();
    for (double& value : x) value = random.normal();
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        for (int k = 0; k < size; ++k) matrix[at(i * size + j)] += root[at(i * size + k)] * root[at(j * size + k)];
        if (i == j) matrix[at(i * size + j)] += 0.1;
      }
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) b[at(i)] += matrix[at(i * size + j)] * x[at(j)];
    }
    for (int i = 0; i < size; ++i) {
      for (int j = i + 1; j < size; ++j) matrix[at(i * size + j)] = std::nan("");  // not to be read
    }
    ASSERT_TRUE(cholesky_factor(matrix, size));
    cholesky_solve(matrix, size, b);
    for (int i = 0; i < size; ++i) EXPECT_NEAR(b[at(i)], x[at(i)], 1e-9) << size;
  }
}

TEST(Cholesky, SaysWhenAMatrixIsNotPositive) {
  std::vector<double> matrix = {1.0, 0.0, 2.0, 1.0};
  EXPECT_FALSE(cholesky_factor(matrix, 2));
  matrix = {std::nan(""), 0.0, 0.0, 1.0};
  EXPECT_FALSE(cholesky_factor(matrix, 2));
}

}  // namespace
}  // namespace cgpo
