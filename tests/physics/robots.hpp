// Robots for the tests, as MJCF. Each covers some features; together all that the dynamics knows.
#pragma once

#include <string>
#include <vector>

namespace cgpo::testing {

struct Robot {
  const char* name;
  std::string xml;
};

const std::vector<Robot>& robots();
const std::string& robot_xml(const std::string& name);

}  // namespace cgpo::testing
