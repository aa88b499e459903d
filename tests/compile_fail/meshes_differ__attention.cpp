// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries and keys on two meshes.
// expect: attention: the operands live on different meshes; put them on one
// expect: meshes_differ<pod, other>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
struct other : dm::mesh<rows> {};
using strange = dm::tensor<float, dm::layout<other>, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const strange& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#else
auto f(const queries& q, const keys& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#endif
