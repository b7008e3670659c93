// What long work says while it is under way, and how it is told to stop: the caller decides what becomes of it.
#pragma once

#include <functional>
#include <string>

namespace cgpo {

// Unless told otherwise nobody listens, and nothing stops it.
struct Listener {
  std::function<void(const std::string&)> event = [](const std::string&) {};  // has happened: a line to keep
  std::function<void(const std::string&)> status = [](const std::string&) {
  };                                             // how far it is; the next one replaces it
  std::function<int()> stop = [] { return 0; };  // not 0: the number of the signal that asks to stop
};

}  // namespace cgpo
