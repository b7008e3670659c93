// `cgpo reproduce`: a table or figure of the paper, or one beyond it, by one command.
#pragma once

#include <optional>
#include <string>

#include "cgpo/reproduce/making.hpp"

namespace cgpo {

struct ReproduceFlags : ReproduceOptions {
  std::string name;                // or "all"
  std::optional<std::string> out;  // runs/reproduce-NAME
  bool json = false;
};

// Exit code: 0 done, 1 a training failed, 128 + the signal's number if one ended it early.
int reproduce_command(const ReproduceFlags& flags);

}  // namespace cgpo
