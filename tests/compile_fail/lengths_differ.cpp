// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two structs side by side have arrays of different lengths.
// expect: for_each_tensor: two structs side by side differ in the length of an array; walk structs of one form
// expect: lengths_differ<std::array<
// levels: 3
#include <dimesh/dimesh.hpp>

#include "names.hpp"

template <class L, int N> struct network {
  using layers_type = std::array<dm::tensor<float, L, hidden>, N>;
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden>, first), (layers_type, layers));
};
#ifdef COMPILE_FAIL
using other = network<hybrid, 3>;
#else
using other = network<hybrid, 2>;
#endif
void f(network<hybrid, 2>& p, const other& q) {
  dm::for_each_tensor([](const auto&, auto& x, const auto& y) { x = y; }, p, q);
}
