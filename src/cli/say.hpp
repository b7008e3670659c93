// Private to this folder: printing that outlives its reader.
#pragma once

#include <cstdio>
#include <string_view>

namespace cgpo {

// Prints and flushes. If that fails, because the reader of a pipe has gone, the terminal was closed or a disk is full,
// the stream leads nowhere from then on: hours of work do not end because nobody listens.
void say(std::FILE* stream, std::string_view text);

}  // namespace cgpo
