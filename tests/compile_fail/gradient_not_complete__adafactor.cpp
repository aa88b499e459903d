// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same with Adafactor.
// expect: adafactor: a gradient is a sum yet to be made; pass complete(gradients)
// expect: gradient_not_complete<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adafactor.hpp>

#include "names.hpp"

template <class L> struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};
using gradients = model<dm::gradient<hybrid>>;
using averages = dm::adafactor_state<model<hybrid>>;
#ifdef COMPILE_FAIL
void f(model<hybrid>& p, const gradients& g, averages& s) { dm::adafactor{}(p, g, s); }
#else
void f(model<hybrid>& p, const gradients& g, averages& s) {
  dm::adafactor{}(p, dm::complete(g), s);
}
#endif
