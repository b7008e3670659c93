// What there is: the tasks and the algorithms.
#pragma once

namespace cgpo {

int tasks_command(bool json);
int algorithms_command(bool json);

}  // namespace cgpo
