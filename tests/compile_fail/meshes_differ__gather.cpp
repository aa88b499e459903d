// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements on one mesh, numbers on another.
// expect: gather, scatter_add: elements and numbers live on different meshes; put them on one
// expect: meshes_differ<pod, other>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

struct other : dm::mesh<rows> {};
using matrix = dm::tensor<float, whole, batch, hidden>;
using away = dm::tensor<int, dm::layout<other>, batch, label>;
using numbers = dm::tensor<int, whole, batch, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const away& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#endif
