#include "cgpo/cli/terminal.hpp"

namespace cgpo {

void write_out(std::FILE* stream, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (std::fflush(stream) == 0 && written) return;
  [[maybe_unused]] const std::FILE* const silent = std::freopen("/dev/null", "w", stream);
}

}  // namespace cgpo
