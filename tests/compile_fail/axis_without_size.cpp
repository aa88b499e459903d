// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A budget in bytes over an axis whose size only the run knows.
// expect: cost_of: the mesh leaves the size of an axis open, and with it what is sent; give it one, axis<4>, or use count(f, shapes...) when the program runs
// expect: axis_without_size<many>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

struct total {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::complete(dm::sum(x));
  }
};
#ifdef COMPILE_FAIL
struct many : dm::axis<> {};
struct line : dm::mesh<many> {};
using x_type = dm::tensor<float, dm::shaped<dm::layout<line, dm::split<batch, many>>>, batch>;
constexpr auto bytes = dm::cost_of<total, x_type>.bytes<many>;
#else
struct many : dm::axis<4> {};
struct line : dm::mesh<many> {};
using x_type = dm::tensor<float, dm::shaped<dm::layout<line, dm::split<batch, many>>>, batch>;
constexpr auto bytes = dm::cost_of<total, x_type>.bytes<many>;
#endif
