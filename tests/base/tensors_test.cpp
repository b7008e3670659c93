#include "cgpo/base/tensors.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"

namespace cgpo {
namespace {

class TensorFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("cgpo-tensors-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "state.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string message_of_reading() {
    try {
      read_tensors(path_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  void write_raw(const std::string& content) { std::ofstream(path_, std::ios::binary) << content; }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

Tensors sample() {
  Tensors tensors;
  tensors.metadata["version"] = "1";
  tensors.put("floats", std::vector<float>{1.5F, -0.0F, NAN, INFINITY, 1e-42F});
  tensors.put("doubles", std::vector<double>{0.1, -1e-310});
  tensors.put("count", std::int64_t{-7});
  tensors.put("empty", std::vector<float>{});
  return tensors;
}

TEST_F(TensorFile, RoundTripKeepsEveryBit) {
  const Tensors written = sample();
  write_tensors(path_, written);
  const Tensors read = read_tensors(path_);
  EXPECT_EQ(read.metadata, written.metadata);
  ASSERT_EQ(read.entries.size(), written.entries.size());
  for (const auto& [name, tensor] : written.entries) EXPECT_EQ(read.entries.at(name).bytes, tensor.bytes) << name;
  EXPECT_EQ(read.integer("count"), -7);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".tmp"));
}

// A shape of brackets in brackets took a call on the stack for each of them.
TEST_F(TensorFile, HasALimitToItsDepth) {
  for (const std::string& deep : {std::string(300000, '['), std::string(300000, '[') + std::string(300000, ']')}) {
    const std::string header = R"({"a":{"dtype":"F32","data_offsets":[0,0],"shape":)" + deep + "}}";
    const std::uint64_t length = header.size();
    std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
    write_raw(file + header);
    EXPECT_THAT(message_of_reading(), ::testing::HasSubstr("is not a usable checkpoint"));
  }
}

// The layout as its specification says, byte by byte, so that other programs read it.
TEST_F(TensorFile, LayoutIsSafetensors) {
  Tensors tensors;
  tensors.put("x", std::vector<float>{1.0F, 2.0F});
  write_tensors(path_, tensors);
  const std::string file = read_file(path_);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const std::string header = file.substr(8, length);
  EXPECT_THAT(header, ::testing::StartsWith(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"));
  ASSERT_EQ(file.size(), 8 + length + 8);
  float values[2];
  std::memcpy(values, file.data() + 8 + length, 8);
  EXPECT_EQ(values[1], 2.0F);
}

TEST_F(TensorFile, EveryTruncationIsNoticed) {
  write_tensors(path_, sample());
  const std::string whole = read_file(path_);
  for (std::size_t size = 0; size < whole.size(); size += size < 16 ? 1 : 7) {
    write_raw(whole.substr(0, size));
    EXPECT_THAT(message_of_reading(), ::testing::HasSubstr(path_.string())) << size;
  }
}

TEST_F(TensorFile, ForeignFilesAreRefused) {
  for (const std::string& content :
       {std::string("hello, this is no checkpoint at all"), std::string(64, '\0'), std::string(8, '\xff'),
        std::string("\x10\0\0\0\0\0\0\0[1,2,3]         ", 24),
        std::string("\x30\0\0\0\0\0\0\0", 8) + R"({"x":{"dtype":"F32","shape":[9],"data_offsets"   )"}) {
    write_raw(content);
    EXPECT_THAT(message_of_reading(), ::testing::HasSubstr("not a usable checkpoint"));
  }
  std::filesystem::remove(path_);
  EXPECT_THAT(message_of_reading(), ::testing::HasSubstr("cannot read"));
}

TEST_F(TensorFile, WrongTypesAndSizesAreNamed) {
  const Tensors tensors = sample();
  std::vector<float> two(2);
  EXPECT_THROW(tensors.get("doubles", std::span<float>(two)), UserError);
  EXPECT_THROW(tensors.get("floats", std::span<float>(two)), UserError);
  EXPECT_THROW(tensors.get("nothing", std::span<float>(two)), UserError);
}

TEST_F(TensorFile, AFailedWriteLeavesTheOldFile) {
  write_tensors(path_, sample());
  const std::string before = read_file(path_);
  std::filesystem::create_directory(path_.string() + ".tmp");  // the temporary name cannot be opened
  EXPECT_THROW(write_tensors(path_, Tensors{}), UserError);
  EXPECT_EQ(read_file(path_), before);
  EXPECT_THROW(write_tensors(folder_ / "missing" / "x", Tensors{}), UserError);
}

}  // namespace
}  // namespace cgpo
