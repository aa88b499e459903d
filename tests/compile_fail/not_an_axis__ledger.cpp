// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traffic over a dim.
// expect: ledger: axes stand in the angle brackets: bytes<rows>()
// expect: not_an_axis<hidden>
// lines: 15
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct mean {
  template <class X> constexpr auto operator()(const X& x) const { return dm::mean(x); }
};
using shape = dm::tensor<float, dm::shaped<whole>, hidden>;
#ifdef COMPILE_FAIL
auto f() { return dm::count(mean{}, shape{}).bytes<hidden>(); }
#else
auto f() { return dm::count(mean{}, shape{}).bytes<rows>(); }
#endif
