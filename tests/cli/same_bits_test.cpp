// A whole run has the same bits with every instruction set that this machine can play, in machine code and interpreted.
#include <cstdlib>
#include <string>
#include <vector>

#include "cgpo/base/cpu.hpp"
#include "cgpo/base/tensors.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

struct Machine {
  std::string name;
  std::string isa;  // the environment variable CGPO_ISA
  std::string backend;
};

class SameBits : public ProgramTest {
 protected:
  SameBits() {
    machines_.push_back({"interpreted", isa_name(best_isa()), "interpreter"});
    for (const Isa isa : {Isa::kBaseline, Isa::kAvx2}) {
      if (isa < best_isa()) machines_.push_back({isa_name(isa), isa_name(isa), "best"});
    }
  }
  ~SameBits() override { ::unsetenv("CGPO_ISA"); }

  void expect_equal_runs(std::vector<std::string> training) {
    training.insert(training.begin(), "train");
    training.insert(training.end(), {"--set", "iterations=3", "--out"});
    const auto train = [&](const Machine& machine) {
      std::vector<std::string> words = training;
      words.insert(words.end(), {machine.name, "--set", "kernel.backend=" + machine.backend});
      ::setenv("CGPO_ISA", machine.isa.c_str(), 1);
      const Outcome outcome = run(words);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    };
    train({"reference", isa_name(best_isa()), "best"});
    for (const Machine& machine : machines_) {
      SCOPED_TRACE(machine.name);
      train(machine);
      expect_same_numbers("reference", machine.name);
    }
  }

 private:
  // Configuration and metadata name the machine.
  void expect_same_numbers(const std::string& a, const std::string& b) const {
    EXPECT_EQ(log_without_seconds(a), log_without_seconds(b));
    const Tensors left = read_tensors(at(a) / "checkpoint.safetensors");
    const Tensors right = read_tensors(at(b) / "checkpoint.safetensors");
    ASSERT_EQ(left.entries.size(), right.entries.size());
    for (const auto& [name, tensor] : left.entries) {
      ASSERT_TRUE(right.contains(name)) << name;
      EXPECT_TRUE(tensor.bytes == right.entries.at(name).bytes) << name;
    }
  }

  std::vector<Machine> machines_;
};

TEST_F(SameBits, OfToysWithGradients) { expect_equal_runs({"function", "--set", "environments=48"}); }

TEST_F(SameBits, OfRobotsWithContacts) {
  expect_equal_runs({"halfcheetah", "--set", "environments=20", "--set", "horizon=60"});
}

TEST_F(SameBits, OfScores) {
  expect_equal_runs({"cartpole", "--algo", "ppo", "--set", "environments=20", "--set", "horizon=60"});
}

}  // namespace
}  // namespace cgpo
