// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An annotated text has a mistake that no layout mends: on probes no type shows it.
// expect: inferred: an operation of the text refuses its operands under any layout; compile the text under layout<mesh>, which says why
// expect: text_takes_no_layout<product>
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

struct product {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    const auto in = dm::shard<dm::split<batch, rows>>(x);
#ifdef COMPILE_FAIL
    return dm::einsum<batch, hidden, label>(in, w);
#else
    return dm::einsum<batch, hidden>(in, w);
#endif
  }
};
using found = dm::inferred<product, dm::probe<float, pod, batch, pixel>,
                           dm::probe<float, pod, pixel, hidden>>;
dm::tensor<float, found::layout, pixel, hidden> w;
