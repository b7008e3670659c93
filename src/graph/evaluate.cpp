#include "cgpo/graph/evaluate.hpp"

#include <algorithm>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/fold.hpp"

namespace cgpo {

std::vector<double> evaluate(const Graph& graph, std::span<const double> inputs) {
  check(inputs.size() == graph.inputs().size(), "one value for every input");
  std::vector<double> values(graph.nodes().size());
  const auto value = [&](NodeId id) { return id == kNoNode ? 0.0 : values[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Node& node = graph.nodes()[i];
    switch (node.op) {
      case Op::kConstant: values[i] = node.value; break;
      case Op::kInput: values[i] = inputs[static_cast<std::size_t>(node.a)]; break;
      case Op::kSolved: values[i] = value(node.a); break;
      case Op::kLookup: {
        const std::vector<double>& table = *graph.tables()[static_cast<std::size_t>(node.b)];
        const double last = static_cast<double>(table.size()) - 1.0;
        const double index = value(node.a);
        values[i] = table[index > 0.0 ? static_cast<std::size_t>(std::min(index, last)) : 0];
        break;
      }
#define CGPO_RECORD(id, ...)  // above
#define CGPO_OTHER(id) case Op::id:
#include "cgpo/graph/operations.def"
        values[i] = fold(node.op, value(node.a), value(node.b), value(node.c), graph.precision());
    }
  }
  std::vector<double> outputs;
  for (const NodeId output : graph.outputs()) outputs.push_back(value(output));
  return outputs;
}

}  // namespace cgpo
