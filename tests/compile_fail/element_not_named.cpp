// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil that computes with its accessor.
// expect: stencil: the function is given an accessor, no number; take an element out of it: at<>(u), or a neighbour: at<dim>(u, 1)
// expect: element_not_named<float, float>
// lines: 19
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using field =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
struct slope {
  template <class U> auto operator()(const U& u) const {
#ifdef COMPILE_FAIL
    return dm::at<batch>(u, 1) - u;
  }
};
auto f(const field& u) { return dm::stencil(slope{}, u); }
#else
    return dm::at<batch>(u, 1) - dm::at<>(u);
  }
};
auto f(const field& u) { return dm::stencil(slope{}, u); }
#endif
