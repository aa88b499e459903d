// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: rename: the extents of the two dims differ
// expect: extents_differ<label, pixel>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct label_out : dm::dim<4> {};
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::rename<label, pixel>(p.b);
#else
    return dm::rename<label, label_out>(p.b);
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }
