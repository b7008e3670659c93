#include "cgpo/graph/lower.hpp"

#include <set>

#include "cgpo/base/error.hpp"
#include "cgpo/graph/traced.hpp"
#include "cgpo/math/elementary.hpp"

namespace cgpo {
namespace {

template <class Real>
Traced expand(Op op, const Traced& a, const Traced& b) {
#define CGPO_TRANSCENDENTAL(id, name, operands, value, polynomial, ...) \
  case Op::id: {                                                        \
    return polynomial;                                                  \
  }
#define CGPO_OTHER(id) \
  case Op::id: break;

  switch (op) {
#include "cgpo/graph/operations.def"
  }
  check(false, "only transcendentals are expanded");
  return a;
}

// Angles of which both sine and cosine are needed: they share one reduction.
std::set<NodeId> paired_angles(const Graph& graph) {
  std::set<NodeId> sines;
  std::set<NodeId> paired;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::kSin) sines.insert(node.a);
  }
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::kCos && sines.contains(node.a)) paired.insert(node.a);
  }
  return paired;
}

template <class Real>
Traced expand_paired(Op op, const Traced& angle) {
  const elementary::SinCos<Traced> both = elementary::sincos<Real>(angle);  // the second call makes no new nodes
  return op == Op::kSin ? both.sin : both.cos;
}

}  // namespace

Graph lower(const Graph& graph, Precision precision) {
  check(precision != Precision::kExact, "a lowered graph has a precision");
  const bool in_float = precision == Precision::kFloat;
  const std::set<NodeId> paired = paired_angles(graph);
  Graph result(precision);
  GraphCopier copier(graph, result);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id) {
    const Node& node = graph.node(id);
    if (node.op == Op::kSolved) {
      copier.set(id, copier(node.a));
    } else if ((node.op == Op::kSin || node.op == Op::kCos) && paired.contains(node.a)) {
      const Traced angle(result, copier(node.a));
      copier.set(
          id, (in_float ? expand_paired<float>(node.op, angle) : expand_paired<double>(node.op, angle)).id_in(result));
    } else if (is_transcendental(node.op)) {
      const Traced a(result, copier(node.a));
      const Traced b = arity(node.op) > 1 ? Traced(result, copier(node.b)) : Traced(0.0);
      const Traced value = in_float ? expand<float>(node.op, a, b) : expand<double>(node.op, a, b);
      copier.set(id, value.id_in(result));
    } else {
      copier.copy(id);
    }
  }
  copier.copy_outputs();
  return result;
}

Graph prepare(const Graph& graph, Precision precision) { return fuse(remove_dead(lower(graph, precision))); }

}  // namespace cgpo
