// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotated text is given tensors whose layout is known.
// expect: inferred: behind the text stand probes, or structs of them, and one at least: inferred<text, network<layout<pod, at_run_time>>, probe<float, pod, batch>>
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

struct twice {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard<dm::split<batch, rows>>(x) * 2.0f;
  }
};
#ifdef COMPILE_FAIL
using found = dm::inferred<twice, dm::tensor<float, dm::shaped<whole>, batch>>;
#else
using found = dm::inferred<twice, dm::probe<float, pod, batch>>;
#endif
dm::tensor<float, found::layout, batch> x;
