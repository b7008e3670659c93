#include "cgpo/base/tensors.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgpo/base/checksum.hpp"
#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"

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
  tensors.metadata["task"] = "function";
  write_tensors(path_, tensors);
  const std::string file = read_file(path_);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const std::string header = file.substr(8, length);
  const Json parsed = Json::parse(header);
  EXPECT_EQ(parsed.at("x").dump(), R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})");
  EXPECT_EQ(parsed.size(), 2U);
  for (const auto& [key, value] : parsed.at("__metadata__").items()) EXPECT_TRUE(value.is_string()) << key;
  EXPECT_EQ(parsed.at("__metadata__").at("task"), "function");
  EXPECT_EQ(parsed.at("__metadata__").at("file_format"), "2");
  EXPECT_EQ(parsed.at("__metadata__").at("checksum/x"), checksum_text(file.substr(8 + length)));
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

std::string refusal(const std::string& file) {
  try {
    parse_tensors(file, "name");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Tensors, EveryFlippedBitIsNoticed) {
  const std::string whole = format_tensors(sample());
  ASSERT_EQ(refusal(whole), "");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(refusal(flipped), "") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
  std::string damaged = whole;
  damaged[whole.size() - 2] = static_cast<char>(damaged[whole.size() - 2] ^ 1);
  EXPECT_THAT(refusal(damaged), ::testing::HasSubstr("its entry 'floats' is damaged"));
}

std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header + std::string(data, '\0');
}

TEST(Tensors, WhatVersion010WroteIsRead) {
  const std::string header =
      R"({"__metadata__":{"task":"function"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const Tensors tensors = parse_tensors(file_of(header, 8), "name");
  EXPECT_EQ(tensors.file_format, 1);
  EXPECT_EQ(tensors.entries.at("x").bytes.size(), 8U);
  EXPECT_EQ(parse_tensors(format_tensors(tensors), "name").file_format, kFileFormat);
}

TEST(Tensors, OnesOfNewerProgramsSaySo) {
  const std::string header = R"({"__metadata__":{"file_format":"3","program":"cgpo 9.1"},"x":{"dtype":"F4"}})";
  EXPECT_THAT(refusal(file_of(header, 8)),
              ::testing::HasSubstr("written by a newer program, cgpo 9.1; this one is cgpo"));
}

// Headers that somebody made up.
TEST(Tensors, HostileHeadersAreRefused) {
  const auto entry = [](const std::string& shape, const std::string& offsets) {
    return R"("x":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const std::string good = entry("[2]", "[0,8]");
  EXPECT_EQ(refusal(file_of("{" + good + "}", 8)), "");
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  for (const std::string& entries :
       std::vector<std::string>{std::string(good).append(",").append(good),
                                entry(deep, "[0,8]"),
                                entry("[2]", deep),
                                entry("[4294967296,4294967296,4]", "[0,0]"),
                                entry("[-2]", "[0,8]"),
                                entry("[9223372036854775807,3]", "[0,8]"),
                                entry("[2]", "[8,16]"),
                                entry("[2]", "[0,18446744073709551615]"),
                                entry("[2]", "[-8,0]"),
                                entry("[2]", "[0]"),
                                entry("[2.0]", "[0,8]"),
                                entry("2", "[0,8]"),
                                entry("[true,2]", "[0,8]"),
                                entry("[1]", "[0,4]"),
                                good + R"(,"y":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})",
                                R"("x":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,8]})",
                                R"("__metadata__":{"a":1},)" + good,
                                R"("__metadata__":{"file_format":"x"},)" + good,
                                R"("__metadata__":{"checksum":"0"},)" + good,
                                R"("__metadata__":[],)" + good}) {
    EXPECT_NE(refusal(file_of("{" + entries + "}", 8)), "") << entries.substr(0, 200);
  }
  EXPECT_NE(refusal(file_of("{" + good + "}", 9)), "");
  EXPECT_NE(refusal(file_of("{" + std::string(17 << 20, ' ') + good + "}", 8)), "");
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
  std::filesystem::create_directories(folder_ / "taken" / "by");
  EXPECT_THROW(write_tensors(folder_ / "taken", Tensors{}), UserError);
  EXPECT_THROW(write_tensors(folder_ / "missing" / "x", Tensors{}), UserError);
  EXPECT_EQ(read_file(path_), before);
  const std::filesystem::directory_iterator entries(folder_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2) << "a temporary file was left behind";
}

}  // namespace
}  // namespace cgpo
