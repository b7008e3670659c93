// The command line as a function, so that a program with tasks of its own (see tasks/registry.hpp) has it too.
#pragma once

namespace cgpo {

// Exit codes: 0 done; 2 the user asked for something that cannot be done, one sentence on standard error says what;
// 1 a fault of the program, or a check that failed; 128 + n a training ended early by signal n.
int run_command_line(int argc, const char* const* argv);

}  // namespace cgpo
