#include "cgpo/cli/command_line.hpp"

int main(int argc, char** argv) { return cgpo::run_command_line(argc, argv); }
