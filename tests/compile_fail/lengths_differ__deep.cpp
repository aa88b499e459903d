// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same within layers of a network, in a function of the user's.
// expect: for_each_tensor: two structs side by side differ in the length of an array; walk structs of one form
// expect: lengths_differ<std::array<
// levels: 3
#include <dimesh/dimesh.hpp>

#include "names.hpp"

template <class L, int N> struct layer {
  using experts_type = std::array<dm::tensor<float, L, hidden>, N>;
  BOOST_HANA_DEFINE_STRUCT(layer, (experts_type, experts), (dm::tensor<float, L, hidden>, bias));
};
template <class L, int N> struct network {
  using layers_type = std::array<layer<L, N>, 4>;
  BOOST_HANA_DEFINE_STRUCT(network, (layers_type, layers), (dm::tensor<float, L, hidden>, last));
};
template <class P, class Q> void copy_all(P& p, const Q& q) {
  dm::for_each_tensor([](const auto&, auto& x, const auto& y) { x = y; }, p, q);
}
#ifdef COMPILE_FAIL
using other = network<hybrid, 3>;
#else
using other = network<hybrid, 2>;
#endif
void f(network<hybrid, 2>& p, const other& q) { copy_all(p, q); }
