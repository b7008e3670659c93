// Which MuJoCo reads robots here, and steps them where it is asked to.
#pragma once

namespace cgpo {

const char* mujoco_version();  // "4.0.0"

}  // namespace cgpo
