#include "cgpo/cli/commands.hpp"

namespace cgpo {

const std::vector<CommandEntry>& all_commands() {
  static const std::vector<CommandEntry> commands = {
      {"tasks", "list the tasks with their sizes, horizons, limits and options", make_tasks_command},
      {"algorithms", "list the algorithms", make_algorithms_command},
      {"settings", "list every setting, with the defaults of a task and algorithm", make_settings_command},
      {"model", "what was read from an MJCF file, and how far it is from MuJoCo", make_model_command},
      {"check", "compare a task's derivatives with central differences", make_check_command},
      {"train", "train a policy", make_train_command},
      {"eval", "how good a trained policy is, on fresh episodes", make_eval_command},
      {"export", "a trained policy as an ONNX graph, a C header or a torch module", make_export_command},
      {"compare", "train several algorithms on several seeds, and compare them", make_compare_command},
      {"bench", "how fast this machine simulates and trains, beside MuJoCo", make_bench_command},
      {"report", "one page: curves, verdict, the moving robot, the configuration", make_report_command},
      {"replay", "a page with the robot moving, or a film of it", make_replay_command},
      {"reproduce", "make a table or figure of the paper, or one beyond it", make_reproduce_command},
  };
  return commands;
}

}  // namespace cgpo
