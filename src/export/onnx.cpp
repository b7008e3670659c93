#include "cgpo/export/onnx.hpp"

#include <bit>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "cgpo/base/version.hpp"
#include "cgpo/export/protobuf.hpp"

namespace cgpo {
namespace {

// Numbers of fields and of enumerations, as onnx.proto has them.
constexpr std::uint64_t kIrVersion = 8;
constexpr std::uint64_t kOpset = 17;
constexpr std::uint64_t kFloat = 1;         // TensorProto.DataType
constexpr std::uint64_t kIntAttribute = 2;  // AttributeProto.AttributeType

// [batch, width], of any batch.
Message value_info(const std::string& name, int width) {
  Message shape;
  shape.message(1, Message().text(2, "batch"));
  shape.message(1, Message().whole(1, static_cast<std::uint64_t>(width)));
  const Message tensor = Message().whole(1, kFloat).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, tensor));
}

// Nodes one after the other, each taking what the one before it gave.
class GraphWriter {
 public:
  explicit GraphWriter(std::string input) : value_(std::move(input)) {}

  void constant(const std::string& name, const std::vector<int>& shape, std::span<const float> values) {
    static_assert(std::endian::native == std::endian::little, "raw data of a tensor is little endian");
    Message tensor;
    for (const int size : shape) tensor.whole(1, static_cast<std::uint64_t>(size));
    tensor.whole(2, kFloat).text(8, name);
    tensor.text(9, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    constants_.push_back(tensor);
  }

  // value := op(value, more…), called `output`.
  void node(const std::string& op, const std::vector<std::string>& more, const std::string& output) {
    Message node;
    node.text(1, value_);
    for (const std::string& name : more) node.text(1, name);
    node.text(2, output).text(3, "make_" + output).text(4, op);
    if (op == "Gemm") {  // value · weightᵀ + bias
      node.message(5, Message().text(1, "transB").whole(3, 1).whole(20, kIntAttribute));
    }
    nodes_.push_back(node);
    value_ = output;
  }

  // A node with one more operand, one number a column.
  void by_column(const std::string& op, const std::string& name, const std::vector<float>& values,
                 const std::string& output) {
    constant(name, {static_cast<int>(values.size())}, values);
    node(op, {name}, output);
  }

  const std::string& value() const { return value_; }

  Message graph(const std::string& name, const Message& input, const std::vector<Message>& outputs) const {
    Message graph;
    for (const Message& node : nodes_) graph.message(1, node);
    graph.text(2, name);
    for (const Message& constant : constants_) graph.message(5, constant);
    graph.message(11, input);
    for (const Message& output : outputs) graph.message(12, output);
    return graph;
  }

 private:
  std::string value_;
  std::vector<Message> nodes_;
  std::vector<Message> constants_;
};

void write_network(const DeployedPolicy& policy, GraphWriter& graph) {
  graph.by_column("Sub", "mean", policy.mean, "centred");
  graph.by_column("Mul", "inverse_std", policy.inverse_std, "normalised");
  for (std::size_t l = 0; l < policy.layers.size(); ++l) {
    const DenseLayer& layer = policy.layers[l];
    const std::string name = fmt::format("layer{}", l);
    graph.constant(name + ".weight", {layer.outputs, layer.inputs}, layer.weight);
    graph.constant(name + ".bias", {layer.outputs}, layer.bias);
    graph.node("Gemm", {name + ".weight", name + ".bias"}, fmt::format("sum{}", l));
    graph.node("Tanh", {}, l + 1 < policy.layers.size() ? fmt::format("units{}", l) : "policy_action");
  }
}

// Max and Min, since Clip takes one bound for all columns. Both let NaN through.
void write_control(const ControlRule& rule, GraphWriter& graph) {
  if (rule.scales()) graph.by_column("Mul", "action_scale", rule.scale, "scaled");
  if (rule.shifts()) graph.by_column("Add", "action_offset", rule.offset, "shifted");
  if (rule.clips()) {
    graph.by_column("Max", "control_low", rule.low, "above_low");
    graph.by_column("Min", "control_high", rule.high, "within_range");
  }
  graph.node("Identity", {}, "action");
}

}  // namespace

std::string onnx_model(const DeployedPolicy& policy, bool policy_action) {
  GraphWriter graph("obs");
  write_network(policy, graph);
  write_control(policy.rule, graph);
  std::vector<Message> outputs = {value_info("action", policy.actions)};
  if (policy_action) outputs.push_back(value_info("policy_action", policy.actions));

  Message model;
  model.whole(1, kIrVersion).text(2, "cgpo").text(3, std::string_view(kVersion).substr(5));
  model.message(7, graph.graph("policy", value_info("obs", policy.observations), outputs));
  model.message(8, Message().text(1, "").whole(2, kOpset));
  for (const auto& [key, value] : policy.metadata.items()) {
    model.message(14, Message().text(1, key).text(2, metadata_text(value)));
  }
  return model.bytes();
}

}  // namespace cgpo
