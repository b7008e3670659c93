// A policy that was loaded acts as it does in a rollout, to the last bit.
#include "cgpo/run/trained_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/judge/evaluate_policy.hpp"
#include "cgpo/run/open_run.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

constexpr int kEpisodes = 5;
constexpr std::uint64_t kSeed = 17;

class TrainedPolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigurationRequest request;
    request.task = "cartpole";
    for (const char* set : {"iterations=3", "environments=8", "critic.steps=4", "critic.batch=16", "horizon=40"}) {
      request.sets.push_back(parse_assignment(set));
    }
    open_run(resolve_configuration(request), {.folder = run_}).train();
  }

  std::vector<RecordedEpisode> record(const TrainedPolicy& policy, bool deterministic) const {
    ThreadPool pool(1);
    AlgorithmContext context = context_of(policy.configuration(), pool);
    context.seed = kSeed;
    return record_episodes(context, policy.checkpoint(), kEpisodes, deterministic);
  }

  static void append(const std::vector<double>& values, std::vector<float>& all) {
    for (const double value : values) all.push_back(static_cast<float>(value));
  }

  ScratchFolder scratch_;
  const std::filesystem::path run_ = scratch_ / "run";
};

TEST_F(TrainedPolicyTest, ActsAsInARollout) {
  const TrainedPolicy policy = TrainedPolicy::load(run_);
  EXPECT_EQ(policy.configuration().task, "cartpole");
  std::vector<float> observations;
  std::vector<float> actions;
  for (const RecordedEpisode& episode : record(policy, /*deterministic=*/true)) {
    ASSERT_EQ(episode.actions.size(), episode.observations.size());
    for (std::size_t t = 0; t < episode.actions.size(); ++t) {
      append(episode.observations[t], observations);
      append(episode.actions[t], actions);
    }
  }
  ASSERT_GT(actions.size(), std::size_t{50});
  EXPECT_EQ(policy.act(observations), actions);  // all rows at once
  const auto width = static_cast<std::size_t>(policy.spec().observations);
  std::vector<float> one_by_one;
  for (std::size_t row = 0; row * width < observations.size(); ++row) {
    const std::vector<float> one = policy.act(std::span(observations).subspan(row * width, width));
    one_by_one.insert(one_by_one.end(), one.begin(), one.end());
  }
  EXPECT_EQ(one_by_one, actions);
}

TEST_F(TrainedPolicyTest, NoiseIsThatOfTheEvaluation) {
  const TrainedPolicy policy = TrainedPolicy::load(run_);
  const std::vector<RecordedEpisode> episodes = record(policy, /*deterministic=*/false);
  for (std::uint32_t t = 0; t < 10; ++t) {
    std::vector<float> observations;
    std::vector<float> actions;
    for (const RecordedEpisode& episode : episodes) {
      append(episode.observations.at(t), observations);
      append(episode.actions.at(t), actions);
    }
    EXPECT_EQ(policy.act(observations, ActionNoise{.seed = kSeed, .step = t}), actions);
    EXPECT_NE(policy.act(observations), actions);
    EXPECT_NE(policy.act(observations, ActionNoise{.seed = kSeed + 1, .step = t}), actions);
  }
}

// More rows than are computed at once.
TEST_F(TrainedPolicyTest, RowsDoNotDependOnEachOther) {
  const TrainedPolicy policy = TrainedPolicy::load(run_);
  const auto width = static_cast<std::size_t>(policy.spec().observations);
  std::vector<float> many(2500 * width);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = 0.001F * static_cast<float>(i % 977) - 0.4F;
  const std::vector<float> all = policy.act(many);
  const auto actions = static_cast<std::size_t>(policy.spec().actions);
  for (const std::size_t row : {0, 1023, 1024, 2499}) {
    const std::vector<float> one = policy.act(std::span(many).subspan(row * width, width));
    EXPECT_EQ(one.front(), all[row * actions]);
  }
  EXPECT_TRUE(policy.act({}).empty());
  EXPECT_THROW(policy.act(std::span(many).first(width + 1)), UserError);
}

TEST_F(TrainedPolicyTest, LoadsTheLastOrTheBest) {
  const TrainedPolicy last = TrainedPolicy::load(run_);
  EXPECT_EQ(last.path(), RunPaths{run_}.checkpoint());
  if (std::filesystem::exists(RunPaths{run_}.best())) {
    EXPECT_EQ(TrainedPolicy::load(run_, SavedPolicy::kBest).path(), RunPaths{run_}.best());
    std::filesystem::remove(RunPaths{run_}.best());
  }
  EXPECT_THROW(TrainedPolicy::load(run_, SavedPolicy::kBest), UserError);
  EXPECT_THROW(TrainedPolicy::load(scratch_ / "nowhere"), UserError);
}

// The same episodes, step by step and as an evaluation sums them up.
TEST_F(TrainedPolicyTest, EvaluationIsThatOfItsEpisodes) {
  const TrainedPolicy policy = TrainedPolicy::load(run_);
  for (const bool deterministic : {false, true}) {
    const EvaluationReport report =
        evaluate(policy, {.episodes = kEpisodes, .deterministic = deterministic, .seed = std::int64_t{kSeed}});
    double total = 0.0;
    for (const RecordedEpisode& episode : record(policy, deterministic)) {
      for (const double reward : episode.signals.front()) total += reward;
    }
    EXPECT_EQ(report.episodes, kEpisodes);
    EXPECT_NEAR(report.return_optimised.mean, total / kEpisodes, 1e-9 * std::abs(total));
  }
}

TEST_F(TrainedPolicyTest, RefusesOptionsThatTheTaskLacks) {
  const TrainedPolicy policy = TrainedPolicy::load(run_);
  EXPECT_THROW(evaluate(policy, {.episodes = 1, .task_sets = {parse_assignment("window=3")}}), UserError);
}

}  // namespace
}  // namespace cgpo
