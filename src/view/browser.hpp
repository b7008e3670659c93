// Private to this folder: a headless Chromium that shows one page and takes pictures of it, through its DevTools pipe.
#pragma once

#include <string>

#include "cgpo/base/json.hpp"
#include "cgpo/base/process.hpp"
#include "cgpo/view/temporary_folder.hpp"

namespace cgpo {

class Browser {
 public:
  // Throws UserError, saying what to install, if there is none.
  Browser(int width, int height);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void open(const std::string& address);
  Json run(const std::string& script);       // the value of a JavaScript expression
  void wait_for(const std::string& script);  // until it is true
  std::string take_picture();                // of the window, as PNG

 private:
  Json call(const std::string& method, const Json& parameters);
  std::string receive();

  TemporaryFolder profile_{"cgpo-browser"};  // outlives the process, which writes to it
  Process process_;
  int count_ = 0;
  std::string session_;
  std::string buffer_;
};

}  // namespace cgpo
