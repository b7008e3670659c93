// A whole run has the same bits with every instruction set that this machine can play, in machine code and interpreted.
#include <cstdlib>
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "cgpo/base/arithmetic.hpp"
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
    training.insert(training.end(), {"--set", "iterations=2", "critic.steps=8", "critic.batch=64", "--out"});
    const auto train = [&](const Machine& machine) {
      std::vector<std::string> words = training;
      words.insert(words.end(), {machine.name, "--set", "kernel.backend=" + machine.backend});
      ::setenv("CGPO_ISA", machine.isa.c_str(), 1);
      const ProgramOutcome outcome = run(words);
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

TEST_F(SameBits, OfToysWithGradients) { expect_equal_runs({"function", "--set", "environments=9"}); }

TEST_F(SameBits, OfRobotsWithContacts) {
  expect_equal_runs({"halfcheetah", "--set", "environments=9", "--set", "horizon=20", "--set", "window=5"});
}

TEST_F(SameBits, OfScores) {
  expect_equal_runs({"cartpole", "--algo", "ppo", "--set", "environments=9", "--set", "horizon=40"});
}

// glibc has other functions for CPUs without AVX2 and FMA, whose last bits differ; it can be told to take them.
TEST_F(SameBits, GoingOnUnderOtherLastBitsIsSaid) {
  ::setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4", 1);
  const ProgramOutcome first = run(small_training("run", 2));
  ::unsetenv("GLIBC_TUNABLES");
  ASSERT_EQ(first.code, 0) << first.err;
  const Tensors checkpoint = read_tensors(at("run/checkpoint.safetensors"));
  if (checkpoint.metadata.at("arithmetic") == arithmetic_fingerprint()) GTEST_SKIP() << "a C library with one code";
  const ProgramOutcome second = run(small_training("run", 4, {"--resume"}));
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, ::testing::HasSubstr("not bit for bit"));
  const ProgramOutcome third = run(small_training("run", 5, {"--resume"}));
  EXPECT_THAT(third.err, ::testing::Not(::testing::HasSubstr("not bit for bit")));
}

}  // namespace
}  // namespace cgpo
