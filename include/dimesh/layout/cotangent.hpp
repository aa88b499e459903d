// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layout has the gradient of a tensor? It follows from the tensor's own, axis by axis:
//
//   cotangent(replicated) = partial      each rank's use of its copy adds a part
//   cotangent(partial)    = replicated   every addend moves the value alike
//   cotangent(split)      = split
//   cotangent(at k)       = at k         who holds the value holds its gradient
//
//   cotangent<layout<pod, split<batch, rows>>, batch>  -> layout<pod, split<batch, rows>,
//                                                      partial<cols>>
#pragma once

#include "dimesh/layout/canonical.hpp"

namespace dimesh {

namespace detail {
/// The dual of a table; partial maxima have none (they never meet a recorded value).
constexpr table dual_of(table t) {
  for (int a = 0; a < t.axes; ++a) {
    if (t.axis[a].what == use::replicated)
      t.axis[a].what = use::partial;
    else if (t.axis[a].what == use::partial)
      t.axis[a].what = use::replicated;
  }
  return t;
}
template <class L, class Dims> struct cotangent_table {
  static constexpr table result = dual_of(drafted<L, Dims>::result.t);
};
}  // namespace detail

/// The layout of the gradient of a tensor with dims D... under L. An involution.
template <class L, Dim... D>
using cotangent = detail::layout_type<typename L::mesh, detail::list<D...>,
                                      detail::cotangent_table<L, detail::list<D...>>>;

}  // namespace dimesh
