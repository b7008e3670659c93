// Configuration files, from TOML to settings and back.
#include "cgpo/config/configuration.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  const auto document = fuzz::accepted([&] { return parse_document(input, "fuzz.toml"); });
  if (!document) return;
  ConfigurationRequest request;
  for (const Assignment& assignment : *document) {
    // One task that is made in no time stands for all, and no program is started.
    if (assignment.key != "task.name" && assignment.key != "task.command") request.file.push_back(assignment);
  }
  fuzz::passes([&] { resolve_without_task(request); });
  request.task = "function";
  const auto made = fuzz::accepted([&] { return resolve_configuration(request); });
  if (!made) return;
  ConfigurationRequest stored;
  stored.file = parse_document(write_configuration(*made), "written.toml");
  fuzz::require(differences(*made, resolve_configuration(stored)).empty(),
                "a configuration that was written is the same");
}
