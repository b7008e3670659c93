// One function object out of several: std::visit(Overloaded{…}, variant) with a lambda for each type does not compile
// when one is missing.
#pragma once

namespace cgpo {

template <class... Calls>
struct Overloaded : Calls... {
  using Calls::operator()...;
};
template <class... Calls>
Overloaded(Calls...) -> Overloaded<Calls...>;

}  // namespace cgpo
