// The poses of a replay against MuJoCo's own kinematics.
#include "cgpo/view/replay.hpp"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/algorithms/registry.hpp"
#include "cgpo/base/base64.hpp"
#include "cgpo/judge/evaluation.hpp"
#include "cgpo/tasks/robots/robot.hpp"

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

std::vector<double> decode(const Json& packed) {
  const std::string bytes = decode_base64(packed.at("data").get<std::string>());
  std::vector<std::int16_t> numbers(bytes.size() / 2);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  const std::size_t channels = packed.at("offset").size();
  std::vector<double> values;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    values.push_back(packed.at("offset")[i % channels].get<double>() +
                     packed.at("scale")[i % channels].get<double>() * numbers[i]);
  }
  return values;
}

class ReplayTest : public ::testing::Test {
 protected:
  // A run whose only policy is the untrained one, but with actions large enough to move.
  void begin(const std::string& task, const std::vector<std::string>& sets = {}) {
    ConfigurationRequest request;
    request.task = task;
    request.sets = {parse_assignment("horizon=30"), parse_assignment("window=5"), parse_assignment("environments=4"),
                    parse_assignment("policy.last_layer_scale=2"), parse_assignment("policy.hidden=[8]")};
    for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
    configuration_ = resolve_configuration(request);
    const RunFolder folder(scratch_ / task, FolderMode::kNew);
    folder.begin(configuration_);
    paths_ = folder.paths();
    context_ = {task_of(configuration_), configuration_.settings, configuration_.seed, &pool_};
    const std::unique_ptr<Algorithm> algorithm = find_algorithm("cgpo").make(context_);
    algorithm->save(tensors_);
    describe_checkpoint(tensors_, configuration_, 0);
    write_tensors(paths_.checkpoint(), tensors_);
  }

  ScratchFolder scratch_;
  ThreadPool pool_{1};
  Configuration configuration_;
  RunPaths paths_;
  AlgorithmContext context_;
  Tensors tensors_;
};

TEST_F(ReplayTest, BodiesAreWhereMujocoHasThem) {
  for (const char* name : {"ant", "halfcheetah", "cartpole"}) {
    begin(name);
    const Json replay = replay_json(paths_, configuration_, {.episodes = 2}, pool_);
    ASSERT_EQ(replay.at("kind"), "robot");
    const std::vector<RecordedEpisode> episodes = record_episodes(context_, tensors_, 2, true);
    const Robot& robot = *context_.task->find_robot();
    const Model& model = *robot.model;
    MujocoEngine engine = make_mujoco_engine(robot);
    const std::vector<double> none(static_cast<std::size_t>(model.nu), 0.0);
    std::size_t moved = 0;
    for (std::size_t e = 0; e < 2; ++e) {
      const Json& shown = replay.at("policies").at(0).at("episodes").at(e);
      const std::vector<double> positions = decode(shown.at("positions"));
      const std::size_t bodies = replay.at("bodies").size();
      ASSERT_EQ(positions.size(), 3 * bodies * episodes[e].states.size());
      for (std::size_t t = 0; t < episodes[e].states.size(); ++t) {
        const RobotState<double> state(model, std::span<const double>(episodes[e].states[t]));
        engine.set_state(state.q, state.v);
        engine.forward(none);
        for (std::size_t b = 0; b < bodies; ++b) {
          const int body = model.body_id(replay.at("bodies")[b].get<std::string>());
          for (int k = 0; k < 3; ++k) {
            const double wanted = engine.body_position(body)[k];
            EXPECT_NEAR(positions[3 * (t * bodies + b) + static_cast<std::size_t>(k)], wanted, 2e-4) << name;
          }
        }
      }
      moved += positions.front() != positions[positions.size() - 3 * bodies] ? 1 : 0;
    }
    EXPECT_GT(moved, 0U) << name;
    tensors_ = Tensors();
  }
}

TEST_F(ReplayTest, SumsEndAtTheEpisodesTotals) {
  begin("cartpole");
  const Json replay = replay_json(paths_, configuration_, {}, pool_);
  const RecordedEpisode episode = record_episodes(context_, tensors_, 1, true).front();
  const Json& shown = replay.at("policies").at(0).at("episodes").at(0);
  for (std::size_t k = 0; k < episode.signals.size(); ++k) {
    double sum = 0.0;
    for (const double value : episode.signals[k]) sum += value;
    EXPECT_NEAR(shown.at("sums")[k].back().get<double>(), sum, 1e-6 * std::max(1.0, std::abs(sum)));
    EXPECT_EQ(shown.at("sums")[k].size(), episode.states.size());
  }
  EXPECT_EQ(shown.at("frames"), episode.states.size());
}

TEST_F(ReplayTest, SameSeedSameEpisodesOtherSeedOthers) {
  begin("halfcheetah");
  const std::string first = replay_json(paths_, configuration_, {}, pool_).dump();
  EXPECT_EQ(first, replay_json(paths_, configuration_, {}, pool_).dump());
  EXPECT_NE(first, replay_json(paths_, configuration_, {.seed = 5}, pool_).dump());
  EXPECT_NE(first, replay_json(paths_, configuration_, {.noise = true}, pool_).dump());
}

TEST_F(ReplayTest, WorksOnMujocosStep) {
  begin("halfcheetah", {"task.engine=mujoco", "gradient.source=zobg"});
  const Json replay = replay_json(paths_, configuration_, {}, pool_);
  EXPECT_GT(replay.at("policies").at(0).at("episodes").at(0).at("forces").at("slots").get<int>(), 0);
}

TEST_F(ReplayTest, TargetOfTheReacherIsAMarker) {
  begin("reacher");
  const Json replay = replay_json(paths_, configuration_, {}, pool_);
  ASSERT_EQ(replay.at("markers").size(), 1U);
  const RecordedEpisode episode = record_episodes(context_, tensors_, 1, true).front();
  const Json& place = replay.at("policies").at(0).at("episodes").at(0).at("markers").at(0);
  EXPECT_NEAR(place[0].get<double>(), episode.states.front()[4], 1e-6);
  EXPECT_NEAR(place[1].get<double>(), episode.states.front()[5], 1e-6);
}

// f(x) = (x/10)² + 0.1 + 0.1 sin(8x/π), the task's own formula.
TEST_F(ReplayTest, FunctionIsDrawnAsItsCurve) {
  begin("function");
  const Json replay = replay_json(paths_, configuration_, {}, pool_);
  ASSERT_EQ(replay.at("kind"), "curve");
  const Json& curve = replay.at("curve");
  for (std::size_t i = 0; i < curve.at("x").size(); i += 17) {
    const double x = curve.at("x")[i].get<double>();
    const double f = 0.01 * x * x + 0.1 + 0.1 * std::sin(8.0 * x / 3.14159265358979);
    EXPECT_NEAR(curve.at("signals")[0][i].get<double>(), f, 1e-5);
  }
}

TEST_F(ReplayTest, PoliciesByIterationEachOnce) {
  begin("function");
  const auto keep = [&](const std::filesystem::path& path, int iteration) {
    Tensors tensors = tensors_;
    tensors.metadata["iteration"] = std::to_string(iteration);
    tensors.put("iteration", std::int64_t{iteration});
    std::filesystem::create_directories(path.parent_path());
    write_tensors(path, tensors);
  };
  for (const int iteration : {0, 50, 100}) keep(paths_.snapshot(iteration), iteration);
  keep(paths_.checkpoint(), 100);
  keep(paths_.best(), 37);
  const std::vector<KeptPolicy> policies = find_policies(paths_, configuration_);
  ASSERT_EQ(policies.size(), 4U);
  EXPECT_EQ(policies[0].role, "start");
  EXPECT_EQ(policies[1].label, "best feasible, after 37 iterations");
  EXPECT_EQ(policies[2].role, "middle");
  EXPECT_EQ(policies[3].role, "end");
  EXPECT_EQ(policies[3].iteration, 100);
}

}  // namespace
}  // namespace cgpo
