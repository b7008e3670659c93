#include "cgpo/nn/normaliser.hpp"

#include <gtest/gtest.h>

#include "batches.hpp"

namespace cgpo {
namespace {

// Two dimensions, the second far from 0 and narrow: sums of squares would lose it.
RowStore<double> awkward_rows(int samples) {
  RowStore<double> rows = random_rows<double>(2, samples, 1);
  for (int j = 0; j < samples; ++j) rows.view().row(1)[j] = 1e4 + 1e-2 * rows.view().row(1)[j];
  return rows;
}

TEST(Moments, AreThoseOfTwoPasses) {
  const int samples = 1003;
  const RowStore<double> rows = awkward_rows(samples);
  Moments moments(2);
  moments.add<double>(rows.view(), samples);
  EXPECT_EQ(moments.count, samples);
  for (int d = 0; d < 2; ++d) {
    long double sum = 0;
    for (int j = 0; j < samples; ++j) sum += rows.view().row(d)[j];
    const long double mean = sum / samples;
    long double squares = 0;
    for (int j = 0; j < samples; ++j) squares += (rows.view().row(d)[j] - mean) * (rows.view().row(d)[j] - mean);
    EXPECT_NEAR(moments.mean[d], static_cast<double>(mean), 1e-14 * std::max(1.0, std::abs(moments.mean[d])));
    EXPECT_NEAR(moments.variance(d) / static_cast<double>(squares / samples), 1.0, 1e-9);
  }
}

TEST(Moments, DoNotDependOnThePartition) {
  const int samples = 700;
  const RowStore<double> rows = awkward_rows(samples);
  Moments whole(2);
  whole.add<double>(rows.view(), samples);
  for (const int block : {1, 7, 64, 333}) {
    Moments merged(2);
    Moments added(2);
    for (int begin = 0; begin < samples; begin += block) {
      const int count = std::min(block, samples - begin);
      Moments part(2);
      part.add<double>(rows.view().from_column(begin), count);
      merged.merge(part);
      added.add<double>(rows.view().from_column(begin), count);
    }
    EXPECT_EQ(merged.count, samples);
    for (int d = 0; d < 2; ++d) {
      EXPECT_NEAR(merged.mean[d] / whole.mean[d], 1.0, 1e-12);
      EXPECT_NEAR(merged.deviation[d] / whole.deviation[d], 1.0, 1e-8);
      EXPECT_EQ(merged.mean[d], added.mean[d]);  // the same operations
      EXPECT_EQ(merged.deviation[d], added.deviation[d]);
    }
  }
}

TEST(Moments, LeaveOutWhatIsNotKept) {
  RowStore<float> rows(1, 5);
  std::uint8_t keep[5] = {1, 0, 1, 0, 1};
  for (int j = 0; j < 5; ++j) rows.view().row(0)[j] = keep[j] != 0 ? static_cast<float>(j) : NAN;
  Moments moments(1);
  moments.add<float>(rows.view(), 5, keep);
  EXPECT_EQ(moments.count, 3);
  EXPECT_DOUBLE_EQ(moments.mean[0], 2.0);
  EXPECT_DOUBLE_EQ(moments.deviation[0], 8.0);
  std::uint8_t none[5] = {};
  moments.add<float>(rows.view(), 5, none);
  EXPECT_EQ(moments.count, 3);
  EXPECT_DOUBLE_EQ(moments.mean[0], 2.0);
}

TEST(Normaliser, ScalesAndKeepsAFloor) {
  Normaliser<double> normaliser(2);
  EXPECT_EQ(normaliser.scale().std[0], 1.0);
  RowStore<double> raw(2, 4);
  for (int j = 0; j < 4; ++j) {
    raw.view().row(0)[j] = j;  // mean 1.5, variance 1.25
    raw.view().row(1)[j] = 3.0 + (j % 2 == 0 ? 1e-6 : -1e-6);
  }
  Moments moments(2);
  moments.add<double>(raw.view(), 4);
  normaliser.update(moments);
  EXPECT_DOUBLE_EQ(normaliser.scale().std[0], std::sqrt(1.25));
  EXPECT_EQ(normaliser.scale().std[1], 1e-4);
  RowStore<double> x(2, 4);
  raw.view().row(1)[0] = 4.0;
  normaliser.normalise(raw.view(), x.view(), 4);
  EXPECT_NEAR(x.view().row(0)[3], 1.5 / std::sqrt(1.25), 1e-15);
  EXPECT_NEAR(x.view().row(1)[0], 1e4, 1e-9);  // not clipped
  for (int j = 0; j < 4; ++j) x.view().row(0)[j] = 2.0;
  normaliser.scale_adjoint(x.view(), 4);
  EXPECT_NEAR(x.view().row(0)[2], 2.0 / std::sqrt(1.25), 1e-15);
}

// A switch that stays off for a while: when it goes on, weights that no data has seen must not explode.
TEST(Normaliser, WhatNeverChangedKeepsItsUnit) {
  Normaliser<float> normaliser(1);
  RowStore<float> raw(1, 1000);
  const auto update = [&] {
    Moments moments(1);
    moments.add<float>(raw.view(), 1000);
    InputScale before = normaliser.scale();
    normaliser.update(moments);
    return before;
  };
  std::fill_n(raw.view().row(0), 1000, 0.1F);
  update();
  EXPECT_EQ(normaliser.scale().std[0], 1.0);
  update();
  EXPECT_EQ(normaliser.scale().std[0], 1.0);
  for (int j = 0; j < 1000; j += 2) raw.view().row(0)[j] = 1.1F;
  const InputScale before = update();
  const Mlp<float> mlp({1, {4}, 1});
  AlignedVector<float> parameters(static_cast<std::size_t>(mlp.parameter_count()), 0.5F);
  mlp.fold_input_change(parameters, before, normaliser.scale());
  for (int i = 0; i < 4; ++i) EXPECT_LT(parameters[static_cast<std::size_t>(mlp.weight_offset(0) + i)], 0.5F);
}

TEST(Normaliser, IsTheSameAfterLoading) {
  Normaliser<float> normaliser(3);
  const RowStore<float> raw = random_rows<float>(3, 101, 4);
  Moments moments(3);
  moments.add<float>(raw.view(), 101);
  normaliser.update(moments);
  Tensors tensors;
  normaliser.save(tensors, "obs");
  Normaliser<float> loaded(3);
  loaded.load(tensors, "obs");
  EXPECT_EQ(loaded.moments().count, 101);
  EXPECT_EQ(loaded.scale().mean, normaliser.scale().mean);
  EXPECT_EQ(loaded.scale().std, normaliser.scale().std);
  EXPECT_EQ(loaded.moments().deviation, normaliser.moments().deviation);
}

}  // namespace
}  // namespace cgpo
