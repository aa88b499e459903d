// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotated text is given a dim whose extent only the run knows.
// expect: inferred: the extent of a dim is not known to the compiler; give it one
// expect: dim_without_extent<open>
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
struct open : dm::dim<> {};
#else
struct open : dm::dim<8> {};
#endif
struct twice {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard<dm::split<open, rows>>(x) * 2.0f;
  }
};
using found = dm::inferred<twice, dm::probe<float, pod, open>>;
static_assert(found::annotations() < 2);
