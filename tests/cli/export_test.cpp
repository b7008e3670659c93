// `cgpo export`: what it prints, writes and refuses. What is in the files: tests/export.
#include <gmock/gmock.h>

#include "cgpo/base/file.hpp"

#include "program.hpp"

namespace cgpo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

class ExportCommand : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(run(small_training("run", 2)).code, 0); }

  ProgramOutcome write(const std::string& to, const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"export", "run", "--to", to, "--out", out, "--episodes", "64"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(ExportCommand, SaysWhatItWrote) {
  const ProgramOutcome outcome = write("onnx", "policy.onnx");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("policy  the last of run: 1 observation to 1 action\n"),
                                 HasSubstr("\naction  "), HasSubstr("\nverdict "), HasSubstr("file    policy.onnx (")));
  const ProgramOutcome json = write("c", "policy.h", {"--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Json object = Json::parse(json.out);
  EXPECT_EQ(object.at("out"), "policy.h");
  EXPECT_EQ(object.at("to"), "c");
  EXPECT_EQ(object.at("bytes"), read_file(at("policy.h")).size());
  EXPECT_EQ(object.at("checkpoint"), "last");
  // The evaluation of `eval`, of as many episodes.
  const Json evaluation = Json::parse(run({"eval", "run", "--episodes", "64", "--json"}).out);
  for (const auto& [key, value] : object.at("evaluation").items()) EXPECT_EQ(evaluation.at(key), value) << key;
}

TEST_F(ExportCommand, TheSameRunGivesTheSameFile) {
  for (const char* const to : {"onnx", "c", "torch"}) {
    ASSERT_EQ(write(to, "one", {"--threads", "1", "--force"}).code, 0);
    ASSERT_EQ(write(to, "two", {"--threads", "2", "--force"}).code, 0);
    EXPECT_EQ(read_file(at("one")), read_file(at("two"))) << to;
  }
}

TEST_F(ExportCommand, Refuses) {
  write_file_atomically(at("mine"), "mine");
  expect_refused({"export"}, {"export needs the folder of a run"});
  expect_refused({"export", "run", "--out", "policy"}, {"--to onnx, c or torch"});
  expect_refused({"export", "run", "--to", "c"}, {"--out FILE"});
  expect_refused({"export", "run", "--to", "tourch", "--out", "policy"}, {"'tourch'", "did you mean 'torch'?"});
  expect_refused({"export", "run", "--to", "c", "--out", "mine"}, {"'mine' is there already", "--force"});
  expect_refused({"export", "run", "--to", "c", "--out", "run"}, {"'run' is a folder"});
  expect_refused({"export", "run", "--to", "c", "--out", "nowhere/policy.h"}, {"no folder 'nowhere'"});
  expect_refused({"export", "run", "--to", "c", "--out", "policy.h", "--name", "a b"}, {"--name", "'a b'"});
  expect_refused({"export", "run", "--to", "c", "--out", "policy.h", "--checkpoint", "first"}, {"last or best"});
  expect_refused({"export", "nowhere", "--to", "c", "--out", "policy.h"}, {"there is no run 'nowhere'"});
  write_file_atomically(at("run/checkpoint.safetensors"), "damaged");
  expect_refused({"export", "run", "--to", "c", "--out", "policy.h"}, {"checkpoint.safetensors"});
  EXPECT_EQ(write("c", "mine", {"--force"}).code, 2);
  EXPECT_EQ(read_file(at("mine")), "mine");
}

}  // namespace
}  // namespace cgpo
