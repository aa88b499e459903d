// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A member that no optimizer would find.
// expect: for_each_tensor: a struct has members that its BOOST_HANA_DEFINE_STRUCT leaves out; describe them all
// expect: member_not_described<net<
// lines: 22
#include <dimesh/dimesh.hpp>

#include "names.hpp"

template <class L> struct net {
  using row = dm::tensor<float, L, hidden>;
#ifdef COMPILE_FAIL
  BOOST_HANA_DEFINE_STRUCT(net, (row, gain));
  row bias;
#else
  BOOST_HANA_DEFINE_STRUCT(net, (row, gain), (row, bias));
#endif
};
void f(net<whole>& p, const net<whole>& g) { dm::sgd{.rate = 0.1}(p, g); }
