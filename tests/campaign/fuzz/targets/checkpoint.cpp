// A checkpoint whose entries are damaged in ways that its layout allows: an algorithm takes it or refuses.
#include "cgpo/algorithms/registry.hpp"
#include "cgpo/config/configuration.hpp"

#include "fuzz.hpp"

using namespace cgpo;

namespace {

struct Trained {
  ThreadPool pool{1};
  std::unique_ptr<Algorithm> algorithm;
  Tensors saved;

  explicit Trained(const std::string& name) {
    ConfigurationRequest request;
    request.task = "function";
    request.algorithm = name;
    request.sets = {parse_assignment("environments=2"), parse_assignment("policy.hidden=[2]"),
                    parse_assignment("critic.hidden=[2]")};
    algorithm = find_algorithm(name).make(context_of(resolve_configuration(request), pool));
    algorithm->save(saved);
  }
};

void damage(Tensors& tensors, fuzz::Choices& choices) {
  auto entry = tensors.entries.begin();
  std::advance(entry, choices.below(static_cast<unsigned>(tensors.entries.size())));
  Tensor& tensor = entry->second;
  switch (choices.below(5)) {
    case 0: tensors.entries.erase(entry); return;
    case 1: tensor.bytes.resize(choices.below(64) * 4U); return;
    case 2: tensor.type = static_cast<Tensor::Type>(choices.below(3)); return;
    case 3: tensors.put(entry->first, choices.integer<std::int64_t>()); return;
    case 4:
      for (std::size_t at = choices.below(1024); at < tensor.bytes.size() && !choices.empty(); ++at) {
        tensor.bytes[at] = static_cast<std::byte>(choices.byte());
      }
      return;
  }
}

}  // namespace

CGPO_FUZZ(input) {
  static Trained trained[] = {Trained("cgpo"), Trained("ppo-pid"), Trained("cpo")};
  fuzz::Choices choices(input);
  Trained& chosen = trained[choices.below(3)];
  Tensors tensors = chosen.saved;
  while (!choices.empty() && !tensors.entries.empty()) damage(tensors, choices);
  fuzz::passes([&] { chosen.algorithm->load(tensors); });
  fuzz::passes([&] { chosen.algorithm->warm_start(tensors); });
}
