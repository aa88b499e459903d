// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil that looks where the water flows to.
// expect: stencil: the function branches on an element, and its gradient sees one branch; choose between values: select(c, x, y)
// expect: branch_on_element<bool>
// lines: 14
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using field =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
struct upwind {
  template <class U> auto operator()(const U& u) const {
#ifdef COMPILE_FAIL
    if (dm::at<>(u) > 0) return dm::at<batch>(u, -1);
    return dm::at<batch>(u, 1);
  }
};
constexpr auto loss = [](const auto& u) { return dm::sum(dm::stencil(upwind{}, u)); };
auto f(const field& u) { return dm::value_and_grad(loss, u)(); }
#else
    return dm::select(dm::at<>(u) > 0, dm::at<batch>(u, -1), dm::at<batch>(u, 1));
  }
};
constexpr auto loss = [](const auto& u) { return dm::sum(dm::stencil(upwind{}, u)); };
auto f(const field& u) { return dm::value_and_grad(loss, u)(); }
#endif
