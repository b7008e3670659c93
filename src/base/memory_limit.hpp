// How much memory this process may still take, and who says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cgpo {

struct MemoryLimit {
  std::int64_t bytes = 0;
  std::string who;  // "this machine has it free", as the end of a sentence about it
};

// Bounds on the process's own address space and data, as getrlimit gives them; none: no bound.
struct ProcessBounds {
  std::optional<std::int64_t> address_space;
  std::optional<std::int64_t> data;
};
ProcessBounds process_bounds();

// The smallest of: what the machine has available without swapping (/proc/meminfo), what the cgroups of the process
// (version 2 or 1, and those above) leave of their limit, and what the bounds leave of the process's own size. None:
// nothing of this can be read. `root` holds proc/ and sys/.
std::optional<MemoryLimit> memory_limit(const ProcessBounds& bounds = process_bounds(),
                                        const std::filesystem::path& root = "/");

std::string format_bytes(std::int64_t bytes);  // 12.3 MiB

// "not enough memory …" for those who have run out of it: one sentence, made without asking for any.
inline constexpr const char* kOutOfMemory =
    "not enough memory: lower environments, horizon or a network's widths, or give it more; `train --dry-run` says how "
    "much a run takes";

}  // namespace cgpo
