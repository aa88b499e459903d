// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Annotations split two dims over one axis, and the dims meet in a product.
// expect: inferred: annotations split two dims of one tensor over the same axis; take the repair that is named, or another axis
// expect: annotations_share_axis<
// expect: annotation<1,
// expect: shard_of<dimesh::split<batch, rows>
// expect: annotation<2,
// expect: shard_of<dimesh::split<hidden, rows>
// expect: replicate_operand<2, hidden>
// expect: received_bytes<144>
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

struct product {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    const auto in = dm::shard<dm::split<batch, rows>>(x);
#ifdef COMPILE_FAIL
    return dm::complete(dm::einsum<batch, hidden>(in, dm::shard<dm::split<hidden, rows>>(w)));
#else
    return dm::complete(dm::einsum<batch, hidden>(in, dm::shard<dm::split<hidden, cols>>(w)));
#endif
  }
};
using found = dm::inferred<product, dm::probe<float, pod, batch, pixel>,
                           dm::probe<float, pod, pixel, hidden>>;
dm::tensor<float, found::layout, pixel, hidden> w;
