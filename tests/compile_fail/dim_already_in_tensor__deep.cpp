// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: rename: the tensor has a dim of the new name already; choose another name
// expect: dim_already_in_tensor<label>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct hidden_out : dm::dim<6> {};
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::rename<hidden, label>(p.w);
#else
    return dm::rename<hidden, hidden_out>(p.w);
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }
