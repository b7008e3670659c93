#include "cgpo/base/memory_limit.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;

// A machine with 1000 MiB available, as its files tell it.
class MemoryLimitTest : public ::testing::Test {
 protected:
  MemoryLimitTest() { put("proc/meminfo", "MemTotal: 9000000 kB\nMemFree: 1 kB\nMemAvailable:   1024000 kB\n"); }

  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<MemoryLimit> limit(const ProcessBounds& bounds = {}) const {
    return memory_limit(bounds, root_.path());
  }
  void expect_limit(std::int64_t bytes, const std::string& who, const ProcessBounds& bounds = {}) const {
    const std::optional<MemoryLimit> found = limit(bounds);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bytes, bytes);
    EXPECT_THAT(found->who, HasSubstr(who));
  }

  ScratchFolder root_;
};

constexpr std::int64_t kMiB = 1 << 20;

TEST_F(MemoryLimitTest, OfTheMachine) { expect_limit(1000 * kMiB, "machine"); }

TEST_F(MemoryLimitTest, OfControlGroups) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/memory.max", "524288000\n");                                        // 500 MiB
  put("sys/fs/cgroup/a/memory.current", "314572800\n");                                    // 300 MiB,
  put("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 0\n");  // of which 100 are files
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "0\n");
  expect_limit(300 * kMiB, "control group");
}

TEST_F(MemoryLimitTest, OfAContainerWhosePathIsNotSeenInside) {
  put("proc/self/cgroup", "0::/outside/only\n");
  put("sys/fs/cgroup/memory.max", "104857600\n");
  put("sys/fs/cgroup/memory.current", "209715200\n");  // above it: nothing is left
  expect_limit(0, "control group");
}

TEST_F(MemoryLimitTest, OfTheFirstVersionOfControlGroups) {
  put("proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/jobs/7\n");
  put("sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "209715200\n");
  put("sys/fs/cgroup/memory/jobs/7/memory.usage_in_bytes", "52428800\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "52428800\n");
  expect_limit(150 * kMiB, "control group");
}

TEST_F(MemoryLimitTest, OfTheProcess) {
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  put("proc/self/statm", "1000 500 100 50 0 300 0\n");  // pages
  expect_limit(100 * kMiB, "ulimit -v", {100 * kMiB + 1000 * page, std::nullopt});
  expect_limit(50 * kMiB, "ulimit -d", {100 * kMiB + 1000 * page, 50 * kMiB + 300 * page});
  expect_limit(0, "ulimit -v", {page, std::nullopt});
}

TEST_F(MemoryLimitTest, IsUnknownWhereNothingCanBeRead) {
  std::filesystem::remove(root_ / "proc/meminfo");
  EXPECT_FALSE(limit());
  put("proc/meminfo", "nothing of use");
  EXPECT_FALSE(limit());
}

TEST(FormatBytes, HasAUnit) {
  EXPECT_EQ(format_bytes(0), "0.0 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(std::int64_t{5} << 40), "5.0 TiB");
  EXPECT_EQ(format_bytes(INT64_MAX), "8.0 EiB");
}

}  // namespace
}  // namespace cgpo
