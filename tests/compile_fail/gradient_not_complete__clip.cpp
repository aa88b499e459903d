// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The length of a sum that is yet to be made.
// expect: global_norm: a gradient is a sum yet to be made; pass complete(gradients)
// expect: gradient_not_complete<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/clip.hpp>

#include "names.hpp"

template <class L> struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};
using gradients = model<dm::gradient<hybrid>>;
#ifdef COMPILE_FAIL
double f(const gradients& g) { return dm::global_norm(g); }
#else
double f(const gradients& g) { return dm::global_norm(dm::complete(g)); }
#endif
