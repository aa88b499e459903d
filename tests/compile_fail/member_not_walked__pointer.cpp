// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters by their address.
// expect: for_each_tensor: a pointer is no tensor, and no struct of them; pass what it points to, and let members be values
// levels: 1
#include <dimesh/dimesh.hpp>

#include "names.hpp"

template <class L> struct linear {
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden>, weight));
};
constexpr auto squares = [](const auto& p) { return dm::sum(p.weight * p.weight); };
#ifdef COMPILE_FAIL
auto f(linear<whole>* p) { return dm::value_and_grad(squares, p)(); }
#else
auto f(linear<whole>* p) { return dm::value_and_grad(squares, *p)(); }
#endif
