// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows travel along one axis, from its blocks of the batch to its blocks of the experts.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/dropless.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};
struct model : dm::dim<8> {};
struct length : dm::dim<8> {};
struct form : dm::nn::transformer {
  using length = ::length;
  using model = ::model;
  using hidden = ::hidden;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
};
using over_rows = dm::layout<pod, dm::split<expert, rows>>;
using over_both = dm::layout<pod, dm::split<expert, rows, cols>>;
template <class L> using tokens = dm::tensor<float, L, batch, length, model>;
template <class L> using weights = dm::nn::mixture_parameters<L, form>;

// mistake: axis_splits_nothing__dropless_tokens
// expect: dropless_mixture: the axis in the angle brackets, and no other, splits the batch; lay tokens out so, or take mixture, which goes under any layout
// expect: axis_splits_nothing<rows>
#ifdef COMPILE_FAIL
using lain = whole;
#else
using lain = by_batch;
#endif
auto f(const weights<over_rows>& p, const tokens<lain>& x) {
  return dm::nn::dropless_mixture<rows, over_rows>(dm::nn::model<lain, form>{}, p, x).y;
}

// mistake: axis_not_innermost_of_dim__dropless_experts
// expect: dropless_mixture: the axis in the angle brackets, and no other, splits the experts; let their layout do so, or take mixture, which goes under any
// expect: axis_not_innermost_of_dim<expert, cols>
#ifdef COMPILE_FAIL
using owners = over_both;
#else
using owners = over_rows;
#endif
struct best {
  template <class X> auto operator()(const X& of) const {
    return dm::nn::route_by<length, expert, choice>(dm::nn::gating{}, of, of);
  }
};
auto g(const weights<owners>& p, const tokens<by_batch>& x) {
  return dm::nn::dropless_mixture_by<rows, owners>(dm::nn::model<by_batch, form>{}, p, x, best{}).y;
}
