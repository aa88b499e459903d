// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of the parameters that stays under its own layout, and so would get no gradient.
// expect: value_and_grad: a tensor of the struct does not follow the struct's layout; write template <class L> struct network, L first, of tensor<float, L, dims...>
// expect: layout_not_first_argument<linear<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
template <class L> struct linear {
  using bias = dm::tensor<float, whole, label>;
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden, label>, w), (bias, b));
};
#else
template <class L> struct linear {
  using bias = dm::tensor<float, L, label>;
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden, label>, w), (bias, b));
};
#endif
auto f(const linear<whole>& p) {
  return dm::value_and_grad([](const auto& q) { return dm::sum(q.w) + dm::sum(q.b); }, p)();
}
