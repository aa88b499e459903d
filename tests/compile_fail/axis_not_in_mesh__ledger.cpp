// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traffic over an axis of another mesh.
// expect: ledger: this axis is not in the mesh; name one that is
// expect: axis_not_in_mesh<depth, pod>
// lines: 15
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct mean {
  template <class X> constexpr auto operator()(const X& x) const { return dm::mean(x); }
};
using shape = dm::tensor<float, dm::shaped<whole>, hidden>;
struct depth : dm::axis<2> {};
#ifdef COMPILE_FAIL
auto f() { return dm::count(mean{}, shape{}).bytes<depth>(); }
#else
auto f() { return dm::count(mean{}, shape{}).bytes<cols>(); }
#endif
