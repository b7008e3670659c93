#include "cgpo/world/world_model.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace cgpo {
namespace {

constexpr TransitionShape kShape{2, 1, 2};

// s' = A s + B a, r = s_0 − 2a, c = 100 + 5 s_1, with s and a in units of their own.
std::vector<float> linear_system(int count, std::uint32_t stream) {
  RandomStream random(1, Purpose::kTest, 0, stream);
  std::vector<float> rows;
  for (int i = 0; i < count; ++i) {
    const double s0 = random.uniform(-10.0, 10.0);
    const double s1 = random.uniform(2.0, 2.1);
    const double a = random.uniform(-1.0, 1.0);
    for (const double value :
         {s0, s1, a, -0.1 * s0 + 3.0 * s1 + 0.5 * a, 0.001 * s0 - 0.2 * s1, s0 - 2.0 * a, 100.0 + 5.0 * s1}) {
      rows.push_back(static_cast<float>(value));
    }
  }
  return rows;
}

WorldSettings small() {
  WorldSettings settings;
  settings.hidden = {32};
  settings.batch = 128;
  settings.minibatches = 1500;
  settings.first_fit = 1;
  settings.learning_rate = 1e-2;
  settings.first_scale = 1.0;  // nothing bends here
  settings.patience = 1000;
  return settings;
}

struct Fitted {
  explicit Fitted(const WorldSettings& settings, int threads = 1)
      : model(kShape, settings), training(kShape, 100'000), held_out(kShape, 100'000), pool(threads) {
    model.initialise(5);
    training.append(linear_system(4000, 0));
    held_out.append(linear_system(500, 1));
    model.observe(linear_system(4000, 0));
    fit = model.fit(training, held_out, 5, 0, pool);
  }
  WorldModel<float> model;
  TransitionStore training, held_out;
  ThreadPool pool;
  WorldFit fit;
};

TEST(WorldModel, FitsALinearSystem) {
  const Fitted fitted(small());
  EXPECT_LT(fitted.fit.held_out.state, 0.03);
  ASSERT_EQ(fitted.fit.held_out.signals.size(), 2U);
  for (const double error : fitted.fit.held_out.signals) EXPECT_LT(error, 0.03);
  EXPECT_EQ(fitted.fit.held_out.samples, 500);
  EXPECT_EQ(fitted.fit.held_out.spread, 0.0);  // one member
}

TEST(WorldModel, MembersDifferAndThreadsDoNotMatter) {
  WorldSettings settings = small();
  settings.members = 3;
  settings.minibatches = 40;
  const Fitted one(settings, 1);
  const Fitted four(settings, 4);
  EXPECT_GT(one.fit.held_out.spread, 0.0);
  EXPECT_LT(one.fit.held_out.spread, 1.0);
  for (int e = 0; e < 3; ++e) {
    EXPECT_TRUE(std::ranges::equal(one.model.parameters(e), four.model.parameters(e)));
    EXPECT_FALSE(std::ranges::equal(one.model.parameters(e), one.model.parameters((e + 1) % 3)));
  }
}

// The same error, before and after statistics that are quite different.
TEST(WorldModel, NewStatisticsDoNotChangePredictions) {
  Fitted fitted(small());
  const double before = fitted.fit.held_out.state * fitted.model.output_scale().std[0];
  std::vector<float> far = linear_system(4000, 2);
  for (float& value : far) value = 3.0F * value + 7.0F;
  fitted.model.observe(far);
  const WorldErrors after = fitted.model.errors(fitted.held_out);
  EXPECT_LT(after.state * fitted.model.output_scale().std[0], 1.05 * before + 1e-4);
  EXPECT_GT(fitted.model.output_scale().std[0], 1.5);
}

// A contact flag: an observation that is 0 in all data of the first fit and is 0 or 1 in the next, and matters then.
TEST(WorldModel, AnInputThatBeginsToChangeIsLearnedLikeOthers) {
  constexpr TransitionShape kFlagged{2, 1, 1};
  const auto rows = [](int count, std::uint32_t stream, bool switched) {
    RandomStream random(1, Purpose::kTest, 1, stream);
    std::vector<float> values;
    for (int i = 0; i < count; ++i) {
      const double s = random.uniform(-1.0, 1.0);
      const double flag = switched && random.uniform(0.0, 1.0) < 0.3 ? 1.0 : 0.0;
      const double a = random.uniform(-1.0, 1.0);
      for (const double value : {s, flag, a, 0.1 * a - 0.2 * flag, 0.0, s + flag})
        values.push_back(static_cast<float>(value));
    }
    return values;
  };
  WorldModel<float> model(kFlagged, small());
  model.initialise(5);
  TransitionStore training(kFlagged, 100'000);
  ThreadPool pool(1);
  WorldFit fit;
  for (const bool switched : {false, true}) {
    TransitionStore held_out(kFlagged, 100'000);
    const std::vector<float> fresh = rows(2000, switched ? 1 : 0, switched);
    training.append(fresh);
    held_out.append(rows(500, 2, switched));
    model.observe(fresh);
    if (!switched) {
      EXPECT_EQ(model.input_scale().std[1], 1.0);
    }
    fit = model.fit(training, held_out, 5, switched ? 1 : 0, pool);
  }
  EXPECT_LT(fit.held_out.state, 0.1);
  EXPECT_LT(fit.held_out.signals[0], 0.1);
}

TEST(WorldModel, StopsEarlyAndGoesBackToTheBest) {
  WorldSettings settings = small();
  settings.learning_rate = 20.0;  // the first step ruins it
  settings.check_every = 5;
  settings.patience = 3;
  WorldModel<float> untouched(kShape, settings);
  untouched.initialise(5);
  untouched.observe(linear_system(4000, 0));
  Fitted fitted(settings);
  EXPECT_EQ(fitted.fit.minibatches, settings.check_every * settings.patience);
  // What the fit looks at, up to a factor. The best it had is what it began with.
  const auto loss = [](const WorldErrors& errors) {
    double sum = kShape.observations * errors.state * errors.state;
    for (const double signal : errors.signals) sum += signal * signal;
    return sum;
  };
  EXPECT_EQ(loss(fitted.model.errors(fitted.held_out)), loss(untouched.errors(fitted.held_out)));
}

TEST(WorldModel, ASignalThatHasStoppedIsNotLearned) {
  WorldModel<float> model(kShape, small());
  model.initialise(5);
  std::vector<float> rows = linear_system(4000, 0);
  for (std::size_t i = 0; i < rows.size(); i += 14) rows[i + 5] = NAN;  // every other reward
  TransitionStore training(kShape, 100'000);
  TransitionStore held_out(kShape, 100'000);
  training.append(rows);
  held_out.append(linear_system(500, 1));
  model.observe(rows);
  ThreadPool pool(1);
  const WorldFit fit = model.fit(training, held_out, 5, 0, pool);
  EXPECT_LT(fit.held_out.signals[0], 0.05);
  EXPECT_LT(fit.held_out.state, 0.03);
}

// Every transition twice, once without its reward: there is nothing to be wrong about, and nothing to be right.
TEST(WorldModel, AnErrorIsThatOfWhatIsKnown) {
  Fitted fitted(small());
  const std::vector<float> rows = linear_system(300, 1);
  TransitionStore whole(kShape, 1000);
  TransitionStore half(kShape, 1000);
  TransitionStore none(kShape, 1000);
  whole.append(rows);
  half.append(rows);
  std::vector<float> stopped = rows;
  for (std::size_t i = 0; i < stopped.size(); i += 7) stopped[i + 5] = NAN;
  half.append(stopped);
  none.append(stopped);
  const WorldErrors expected = fitted.model.errors(whole);
  const WorldErrors found = fitted.model.errors(half);
  EXPECT_NEAR(found.signals[0], expected.signals[0], 1e-6 * expected.signals[0]);
  EXPECT_NEAR(found.signals[1], expected.signals[1], 1e-6 * expected.signals[1]);
  EXPECT_NEAR(found.state, expected.state, 1e-6 * expected.state);
  EXPECT_TRUE(std::isnan(fitted.model.errors(none).signals[0]));
}

TEST(WorldModel, SavedAndLoadedItGoesOnAsBefore) {
  Fitted first(small());
  Tensors tensors;
  first.model.save(tensors, "world");
  WorldModel<float> second(kShape, small());
  second.load(tensors, "world");
  first.model.observe(linear_system(100, 3));
  second.observe(linear_system(100, 3));
  first.model.fit(first.training, first.held_out, 5, 1, first.pool);
  second.fit(first.training, first.held_out, 5, 1, first.pool);
  EXPECT_TRUE(std::ranges::equal(first.model.parameters(0), second.parameters(0)));
}

}  // namespace
}  // namespace cgpo
