// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh where a tensor names its layout.
// expect: tensor: this is no layout; the order is tensor<element, layout<mesh, rules...>, dims...>
// expect: not_a_layout<pod>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
dm::tensor<float, pod, batch, hidden> x;
#else
dm::tensor<float, dm::layout<pod>, batch, hidden> x;
#endif
