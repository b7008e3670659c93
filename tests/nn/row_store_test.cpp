#include "cgpo/nn/row_store.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

#include "cgpo/nn/sample_table.hpp"

namespace cgpo {
namespace {

// 8192 environments in one block over 524288 steps: 2^32 columns, which are 0 in 32 bits and were 16 bytes of memory.
constexpr std::ptrdiff_t kColumns = std::ptrdiff_t{8192} * 524288;

TEST(RowStore, SizesAreOf64Bits) {
  EXPECT_EQ(RowStore<float>::bytes(1, kColumns), 4 * (std::size_t{kColumns} + 16));  // an odd number of cache lines
  EXPECT_EQ(RowStore<float>::bytes(3, 10), 3U * 64U);
  EXPECT_EQ(SampleTable<float>::bytes(4, kColumns), 16 * std::size_t{kColumns});
}

TEST(RowStore, RefusesNegativeSizesAndThoseBeyondMemory) {
  RowStore<float> store(2, 5);
  store.view().row(1)[4] = 7.0F;
  EXPECT_THROW(store.resize(-1, 5), std::logic_error);
  EXPECT_THROW(store.resize(2, -5), std::logic_error);
  EXPECT_THROW(store.resize(std::numeric_limits<int>::max(), std::ptrdiff_t{1} << 40), std::bad_alloc);
  EXPECT_THROW(store.resize(0, std::numeric_limits<std::ptrdiff_t>::max()), std::bad_alloc);
  EXPECT_EQ(store.rows(), 2);
  EXPECT_EQ(store.columns(), 5);
  EXPECT_EQ(store.view().row(1)[4], 7.0F);
}

TEST(AlignedAllocator, RefusesWhatWrapsAround) {
  EXPECT_THROW(AlignedAllocator<double>().allocate(std::numeric_limits<std::size_t>::max() / 4), std::bad_alloc);
}

}  // namespace
}  // namespace cgpo
