// Files that are either whole or not there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace cgpo {

// Throws UserError, naming the file, if it cannot be read.
std::string read_file(const std::filesystem::path& path);

// Writes to a temporary name in the same folder, flushes to the disk, renames. Throws UserError if that fails.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace cgpo
