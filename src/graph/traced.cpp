#include "cgpo/graph/traced.hpp"

#include <map>
#include <mutex>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/fold.hpp"

namespace cgpo {

Graph* Traced::graph() const {
  if (place_ == nullptr) return nullptr;
  check(*place_ != nullptr, "a traced value is used while its graph exists");
  return *place_;
}

NodeId Traced::id_in(Graph& graph) const {
  if (place_ == nullptr) return graph.add_constant(value_);
  check(this->graph() == &graph, "a traced value is used in the graph that it was made in");
  return id_;
}

Traced Traced::make(Op op, int count, const Operands& operands) {
  const Traced* const list[] = {operands.a, operands.b, operands.c};
  Graph* graph = nullptr;
  for (int i = 0; i < count; ++i) {
    Graph* const own = list[i]->graph();
    if (own == nullptr) continue;
    check(graph == nullptr || graph == own, "operands belong to one graph");
    graph = own;
  }
  if (graph == nullptr) {
    const auto value = [&](int i) { return i < count ? list[i]->value_ : 0.0; };
    return fold(op, value(0), value(1), value(2), Precision::kExact);
  }
  const auto id = [&](int i) { return i < count ? list[i]->id_in(*graph) : kNoNode; };
  const NodeId a = id(0);
  const NodeId b = id(1);
  const NodeId c = id(2);
  return {*graph, graph->add(op, a, b, c)};
}

namespace {

// Tables have static storage, so one copy each serves all graphs.
template <class Real>
TablePointer shared_table(const elementary::Table<Real>& table) {
  static std::mutex mutex;
  static std::map<const Real*, TablePointer> known;
  const std::lock_guard lock(mutex);
  TablePointer& copy = known[table.values];
  if (copy == nullptr) copy = std::make_shared<const std::vector<double>>(table.values, table.values + table.size);
  return copy;
}

template <class Real>
Traced lookup_in(const elementary::Table<Real>& table, const Traced& index) {
  Graph* const graph = index.graph();
  if (graph == nullptr) throw std::logic_error("a table is looked up at a traced index");
  return {*graph, graph->add_lookup(shared_table(table), index.id_in(*graph))};
}

}  // namespace

Traced lookup(const elementary::Table<float>& table, const Traced& index) { return lookup_in(table, index); }
Traced lookup(const elementary::Table<double>& table, const Traced& index) { return lookup_in(table, index); }

bool Traced::is_structural_zero() const {
  if (const Graph* own = graph()) return own->is_constant(id_, 0.0);
  return value_ == 0.0 && !std::signbit(value_);
}

std::vector<Traced> trace_inputs(Graph& graph, int count) {
  std::vector<Traced> inputs;
  inputs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) inputs.emplace_back(graph, graph.add_input());
  return inputs;
}

void trace_output(Graph& graph, const Traced& value) { graph.add_output(value.id_in(graph)); }

void trace_outputs(Graph& graph, std::span<const Traced> values) {
  for (const Traced& value : values) trace_output(graph, value);
}

}  // namespace cgpo
