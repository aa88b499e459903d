// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters with a member that is not described.
// lines: 13
// expect: for_each_tensor: a struct has members that its BOOST_HANA_DEFINE_STRUCT leaves out; describe them all
// expect: member_not_described<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

template <class L> struct linear {
#ifdef COMPILE_FAIL
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden>, w));
  dm::tensor<float, L, hidden> b;
};
auto f(const linear<whole>& p) {
  return dm::value_and_grad([](const auto& p) { return dm::sum(p.w + p.b); }, p)();
}
#else
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden>, w),
                           (dm::tensor<float, L, hidden>, b));
};
auto f(const linear<whole>& p) {
  return dm::value_and_grad([](const auto& p) { return dm::sum(p.w + p.b); }, p)();
}
#endif
