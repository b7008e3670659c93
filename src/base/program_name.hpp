// What the user typed to start this program: "cgpo", or the name of a program of the user's own that hands over to our
// command line. Messages use it so that the commands they suggest can be copied.
#pragma once

#include <string>
#include <vector>

namespace cgpo {

const std::string& program_name();
// From argv[0], without its folder; an empty one leaves "cgpo".
void set_program_name(const char* argv0);

// How this program starts itself again: what is executed, and the words that go before those of the command line, its
// own name first. That is this process's program, unless the command line is part of another one, an interpreter.
struct OwnProgram {
  std::string file;
  std::vector<std::string> words;
};
OwnProgram own_program();
void set_own_program(OwnProgram program);

// The whole command, as it could be typed again in a shell, but for what these keys were set to.
std::string command_words(const std::vector<std::string>& secret_keys);
void set_command_words(int argc, const char* const* argv);

}  // namespace cgpo
