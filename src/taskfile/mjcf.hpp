// Private to this folder: an MJCF file as one text that needs no file beside it but its meshes and pictures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cgpo {

struct WholeMjcf {
  std::string text;                // with all that it includes; meshes and the like are named by their whole paths
  std::vector<std::string> files;  // those that it still needs: meshes, height fields, textures
};

// Throws UserError, naming the file, if it or one that it includes cannot be read.
WholeMjcf read_whole_mjcf(const std::filesystem::path& path);

}  // namespace cgpo
