// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long is a message when the mistake sits three templates deep? A model calls a layer, which
// calls the step that a test defines: plainly, or recorded for gradients. What follows takes the
// poison.
#pragma once

#include "names.hpp"

template <class L> struct parameters {
  BOOST_HANA_DEFINE_STRUCT(parameters, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};
using inputs = dm::tensor<float, hybrid, batch, hidden>;

template <class Step> struct layer {
  template <class P, class X> auto operator()(const P& p, const X& x) const { return Step{}(p, x); }
};
template <class Step> struct model {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    const auto h = dm::complete(layer<Step>{}(p, x));
    return dm::mean(dm::square(dm::tanh(h) * 2 - h));
  }
};

template <class Step> auto run(parameters<hybrid>& p, const inputs& x) {
#ifdef RECORDED
  auto [loss, gradient] = dm::complete(dm::value_and_grad(model<Step>{}, p)(x));
  p.w = p.w - 0.1f * gradient.w;
  return dm::value(loss);
#else
  return dm::value(dm::complete(model<Step>{}(p, x)));
#endif
}
