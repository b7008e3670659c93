#include "cgpo/base/memory_limit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace cgpo {
namespace {

namespace fs = std::filesystem;

// These are files that the system makes up as they are read; what cannot be read is empty.
std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A whole number at the start of a text, after blanks; none: it is "max", or nothing.
std::optional<std::int64_t> number_at_start(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data() || error != std::errc()) return std::nullopt;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

// The number after a word that begins a line.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '\n';
    const std::string_view rest = text.substr(at + word.size());
    if (begins && rest.starts_with(' ')) return number_at_start(rest);
  }
  return std::nullopt;
}

std::optional<std::int64_t> available_on_machine(const fs::path& root) {
  const std::optional<std::int64_t> kilobytes = number_after(text_of(root / "proc/meminfo"), "MemAvailable:");
  if (!kilobytes) return std::nullopt;
  return *kilobytes * 1024;
}

// How each version of cgroups calls what is needed.
struct CgroupWords {
  std::string_view line;  // of /proc/self/cgroup, up to the path
  fs::path mount;
  const char* limit;
  const char* used;
  std::array<const char*, 2> cache;  // lines of memory.stat: files that can be read again
};

// What a group has left; pages that only hold files make room when they must.
std::optional<std::int64_t> left_in_group(const fs::path& group, const CgroupWords& words) {
  const std::optional<std::int64_t> limit = number_at_start(text_of(group / words.limit));
  const std::optional<std::int64_t> used = number_at_start(text_of(group / words.used));
  if (!limit || !used) return std::nullopt;
  std::int64_t cache = 0;
  const std::string statistics = text_of(group / "memory.stat");
  for (const char* const name : words.cache) cache += number_after(statistics, name).value_or(0);
  return std::max<std::int64_t>(*limit - std::max<std::int64_t>(*used - cache, 0), 0);
}

// Of the process's group and all above it. Inside a container the path may be one that only the outside has; then the
// mount itself is the container's group.
std::optional<std::int64_t> left_in_cgroups(const fs::path& root) {
  const std::array<CgroupWords, 2> versions = {
      CgroupWords{"0::", root / "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
      CgroupWords{":memory:",
                  root / "sys/fs/cgroup/memory",
                  "memory.limit_in_bytes",
                  "memory.usage_in_bytes",
                  {"total_inactive_file", "total_active_file"}}};
  std::istringstream lines(text_of(root / "proc/self/cgroup"));
  std::optional<std::int64_t> least;
  for (std::string line; std::getline(lines, line);) {
    for (const CgroupWords& words : versions) {
      const std::size_t at = line.find(words.line);
      if (at == std::string::npos || (words.line.front() == '0' && at != 0)) continue;
      fs::path below = fs::path(line.substr(at + words.line.size())).relative_path();
      for (;; below = below.parent_path()) {
        if (const auto left = left_in_group(words.mount / below, words)) least = std::min(least.value_or(*left), *left);
        if (below.empty()) break;
      }
    }
  }
  return least;
}

// Pages of the process: all that it has mapped, and its data.
struct OwnSize {
  std::int64_t address_space = 0;
  std::int64_t data = 0;
};
OwnSize own_size(const fs::path& root) {
  std::istringstream pages(text_of(root / "proc/self/statm"));
  std::array<std::int64_t, 6> numbers{};  // size, resident, shared, code, libraries, data
  for (std::int64_t& number : numbers) pages >> number;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  return {numbers[0] * page, numbers[5] * page};
}

std::optional<std::int64_t> bound_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(std::min<std::uint64_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace

ProcessBounds process_bounds() { return {bound_of(RLIMIT_AS), bound_of(RLIMIT_DATA)}; }

std::optional<MemoryLimit> memory_limit(const ProcessBounds& bounds, const fs::path& root) {
  std::vector<MemoryLimit> all;
  const auto add = [&](const std::optional<std::int64_t>& bytes, const char* who) {
    if (bytes) all.push_back({std::max<std::int64_t>(*bytes, 0), who});
  };
  add(available_on_machine(root), "free on this machine");
  add(left_in_cgroups(root), "left of the limit of this container or control group");
  const OwnSize own = own_size(root);
  if (bounds.address_space) add(*bounds.address_space - own.address_space, "left of the limit of `ulimit -v`");
  if (bounds.data) add(*bounds.data - own.data, "left of the limit of `ulimit -d`");
  const auto least = std::min_element(all.begin(), all.end(),
                                      [](const MemoryLimit& a, const MemoryLimit& b) { return a.bytes < b.bytes; });
  return least == all.end() ? std::nullopt : std::optional(*least);
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024.0;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace cgpo
