// Several threads train while readers ask the live view for all it has: the run is the same to the bit as one that
// nobody looks at. With the thread sanitizer the same tests look for races.
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>

#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/run/open_run.hpp"
#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/view/live_view.hpp"

#include "http_client.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// The log but for the one number that needs a clock.
std::string log_without_seconds(const RunPaths& run) {
  std::istringstream text(read_file(run.log()));
  std::string result;
  for (std::string line; std::getline(text, line);) {
    Json entry = Json::parse(line);
    EXPECT_EQ(entry.erase("seconds"), 1U);
    result += entry.dump() + "\n";
  }
  return result;
}

// Asks for everything, over and over.
class Readers {
 public:
  Readers(int port, int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, port, i] {
        const char* const paths[] = {"/replay", "/log?from=0", "/", "/log?from=2", "/nothing"};
        for (std::size_t n = static_cast<std::size_t>(i); !done_; ++n) {
          const int status = ask(port, paths[n % std::size(paths)]).status;
          ++(status == 200 ? answered_ : refused_);
        }
      });
    }
  }
  ~Readers() { stop(); }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  int answered() const { return answered_; }
  void stop() {
    done_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<int> answered_{0};
  std::atomic<int> refused_{0};
  std::vector<std::thread> threads_;
};

struct Training {
  std::string task;
  std::string algorithm = "cgpo";
  std::vector<std::string> sets = {};
};

Configuration configure(const Training& training) {
  ConfigurationRequest request;
  request.task = training.task;
  request.algorithm = training.algorithm;
  for (const char* const text :
       {"iterations=3", "environments=12", "horizon=8", "window=4", "policy.hidden=[8]", "kernel.block=4",
        "critic.hidden=[8]", "critic.steps=3", "critic.batch=16", "snapshots=3"}) {
    request.sets.push_back(parse_assignment(text));
  }
  for (const std::string& text : training.sets) request.sets.push_back(parse_assignment(text));
  return resolve_configuration(request);
}

void expect_same_bits(const Training& training) {
  SCOPED_TRACE(fmt::format("{} on {}", training.algorithm, training.task));
  const ScratchFolder scratch;
  Run plain = open_run(configure(training), {.folder = scratch / "plain", .threads = 1});
  plain.train();
  LiveView live(0);
  Run polled = open_run(configure(training), {.folder = scratch / "polled", .threads = 3});
  live.begin(polled.paths().folder, polled.configuration());
  Readers readers(live.port(), 2);
  // Each iteration is looked at: the next one waits until something was answered after it.
  polled.train([&](const LogEntry&, double) {
    const int before = readers.answered();
    while (readers.answered() < before + 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  readers.stop();
  EXPECT_EQ(log_without_seconds(plain.paths()), log_without_seconds(polled.paths()));
  EXPECT_TRUE(read_file(plain.paths().checkpoint()) == read_file(polled.paths().checkpoint()));
}

TEST(PolledTraining, IsTheSameOnMachineCode) {
  expect_same_bits({.task = "function"});
  expect_same_bits({.task = "cartpole"});
}

TEST(PolledTraining, IsTheSameOnTheInterpreter) {
  expect_same_bits({.task = "function", .sets = {"kernel.backend=interpreter"}});
  expect_same_bits({.task = "cartpole", .sets = {"kernel.backend=interpreter"}});
}

TEST(PolledTraining, IsTheSameOnMujocosStep) {
  expect_same_bits({.task = "cartpole", .algorithm = "ppo-lag", .sets = {"task.engine=mujoco"}});
}

TEST(PolledTraining, IsTheSameThroughALearnedModel) {
  expect_same_bits({.task = "function",
                    .algorithm = "mb-cgpo",
                    .sets = {"world.hidden=[8]", "world.minibatches=4", "world.batch=16"}});
}

// A simulator of somebody's own, one object for each environment: each has its state, and they share nothing.
class Drift final : public Environment {
 public:
  void reset(std::uint64_t seed, std::span<double> observation) override {
    place_ = observation[0] = static_cast<double>(seed % 1024) / 1024.0;
  }
  Step step(std::span<const double> action, std::span<double> observation, std::span<double> costs) override {
    place_ = observation[0] = 0.9 * place_ + 0.2 * action[0];
    costs[0] = action[0] * action[0];
    return {.reward = -place_ * place_, .ended = place_ > 1.0};
  }

 private:
  double place_ = 0.0;
};

TEST(PolledTraining, IsTheSameOnASimulatorOutside) {
  TaskEntry entry;
  entry.name = "drift";
  entry.make = [](const TaskOptions&) {
    TaskSpec spec;
    spec.name = "drift";
    spec.observations = spec.actions = 1;
    spec.horizon = 8;
    spec.costs = {{.name = "effort", .limit = 5.0}};
    return make_environment_task(spec, [] { return std::make_unique<Drift>(); });
  };
  task_registry().push_back(entry);
  expect_same_bits({.task = "drift", .algorithm = "ppo-lag"});
  expect_same_bits(
      {.task = "drift", .algorithm = "mb-cgpo", .sets = {"world.hidden=[8]", "world.minibatches=4", "world.batch=16"}});
  task_registry().pop_back();
}

}  // namespace
}  // namespace cgpo
