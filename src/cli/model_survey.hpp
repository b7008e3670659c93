// Private to this folder: `cgpo model` on many files.
#pragma once

#include <string>
#include <vector>

#include "cgpo/base/json.hpp"
#include "cgpo/studies/robot_check.hpp"

namespace cgpo {

struct SurveyRequest {
  std::vector<std::string> paths;  // files, and folders, whose *.xml are meant, also in folders below
  RobotCheckRequest check;
  int jobs = 1;         // files at a time, a process each; 0: one after the other, in this one
  int time_limit = 60;  // seconds that a file may take
  bool json = false;
};

// The exit code: 1 if the dynamics of one of them is not MuJoCo's, 2 if none could be read.
int survey_models(const SurveyRequest& request);

}  // namespace cgpo
