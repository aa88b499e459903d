// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout for one mesh names an axis of another.
// expect: tensor: the layout names an axis that its mesh lacks; add it to the mesh or drop the rule
// expect: axis_not_in_mesh<depth, pod>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, depth>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>>;
#endif
dm::tensor<float, layout, batch, hidden> x;
