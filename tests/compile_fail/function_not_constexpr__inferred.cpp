// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotated text that the compiler cannot run.
// expect: inferred: the text cannot run while compiling; let its operator() be constexpr, and take operations that run on probes
// expect: function_not_constexpr<twice>
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

struct twice {
#ifdef COMPILE_FAIL
  template <class X>
  auto operator()(const X& x) const {
#else
  template <class X> constexpr auto operator()(const X& x) const {
#endif
      return dm::shard<dm::split<batch, rows>>(x) * 2.0f;
}
}
;
using found = dm::inferred<twice, dm::probe<float, pod, batch>>;
dm::tensor<float, found::layout, batch> x;
