// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout that forgets its mesh.
// expect: tensor: a layout begins with its mesh; write layout<mesh, rules...>
// expect: not_a_mesh<dimesh::split<batch, rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<dm::split<batch, rows>>;
dm::tensor<float, layout, batch, hidden> x;
#else
using layout = dm::layout<pod, dm::split<batch, rows>>;
dm::tensor<float, layout, batch, hidden> x;
#endif
