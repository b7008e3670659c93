// The operations of a graph, as operations.def lists them. A switch over Op has no default: with all cases written, or
// made from the table, the compiler finds the place that a new operation was forgotten in.
#pragma once

#include <array>
#include <cstdint>

namespace cgpo {

enum class Op : std::uint8_t {
#define CGPO_OTHER(id) id,
#include "cgpo/graph/operations.def"
};

enum class OpKind : std::uint8_t {
  kRecord,          // made by a function of Graph of its own, all others by Graph::add
  kArithmetic,      // in every graph
  kTranscendental,  // in traced graphs; lower() expands it
  kPrimitive,       // in lowered graphs
};

struct OpInfo {
  // Whether a and b may be swapped.
  enum class Order : bool { kMatters, kFree };

  const char* name;
  int operands;  // how many of a, b, c are nodes
  OpKind kind;
  Order order;
};

namespace detail {

constexpr auto list_operations() {
  using Order = OpInfo::Order;
#define CGPO_RECORD(id, name, operands) OpInfo{name, operands, OpKind::kRecord, Order::kMatters},
#define CGPO_ARITHMETIC(id, name, operands, order, ...) OpInfo{name, operands, OpKind::kArithmetic, order},
#define CGPO_TRANSCENDENTAL(id, name, operands, ...) OpInfo{name, operands, OpKind::kTranscendental, Order::kMatters},
#define CGPO_PRIMITIVE(id, name, operands, ...) OpInfo{name, operands, OpKind::kPrimitive, Order::kMatters},
  return std::array{
#include "cgpo/graph/operations.def"
  };
}

}  // namespace detail

// Row i describes the operation whose number is i.
inline constexpr auto kOperations = detail::list_operations();
inline constexpr int kOpCount = static_cast<int>(kOperations.size());

constexpr const OpInfo& op_info(Op op) { return kOperations[static_cast<std::size_t>(op)]; }
constexpr const char* op_name(Op op) { return op_info(op).name; }
constexpr int arity(Op op) { return op_info(op).operands; }
constexpr bool is_transcendental(Op op) { return op_info(op).kind == OpKind::kTranscendental; }

}  // namespace cgpo
