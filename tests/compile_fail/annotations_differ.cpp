// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two annotations split a dim differently, and an operation joins their tensors.
// expect: inferred: two annotations split a dim in different ways, and their tensors meet; take the repair that is named, or change one of them
// expect: annotations_differ<
// expect: annotation<2,
// expect: shard_of<dimesh::split<hidden, cols>
// expect: annotation<3,
// expect: replicate_of<hidden>
// expect: annotate_operand<
// expect: received_bytes<0>
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

using any = dm::layout<pod, dm::at_run_time>;
struct product {
  template <class X, class W, class B>
  constexpr auto operator()(const X& x, const W& w, const B& b) const {
    const auto in = dm::shard<dm::split<batch, rows>>(x);
    const auto bias = dm::shard<dm::split<hidden, cols>>(b);
#ifdef COMPILE_FAIL
    return dm::complete(dm::einsum<batch, hidden>(in, dm::replicate<hidden>(w))) + bias;
#else
    return dm::complete(dm::einsum<batch, hidden>(in, w)) + bias;
#endif
  }
};
using found = dm::inferred<product, dm::probe<float, pod, batch, pixel>,
                           dm::probe<float, pod, pixel, hidden>, dm::probe<float, pod, hidden>>;
dm::tensor<float, found::layout, hidden> b;
