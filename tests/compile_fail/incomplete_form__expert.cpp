// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of experts that do not say all that these need.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/experts.hpp>

#include <dimesh/nn/moe/dropless.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};
struct model : dm::dim<8> {};
struct length : dm::dim<8> {};
struct dense : dm::nn::transformer {
  using length = ::length;
  using model = ::model;
  using hidden = ::hidden;
  static constexpr int layers = 1;
};
struct unrouted : dense {
  using expert = ::expert;
};
struct routed : unrouted {
  using choice = ::choice;
};
struct complete : routed {
  using slot = ::slot;
};
using over_rows = dm::layout<pod, dm::split<expert, rows>>;
template <class M> using weights = dm::nn::mixture_parameters<over_rows, M>;
template <class M> const dm::nn::model<by_batch, M> m;
using tokens = dm::tensor<float, by_batch, batch, length, model>;

// mistake: incomplete_form__expert
// expect: nn: the form names no expert; add using expert = a dim
// expect: names_expert<dense>
// lines: 14
#ifdef COMPILE_FAIL
weights<dense> p;
#else
weights<unrouted> p;
#endif

// mistake: incomplete_form__choice
// expect: nn: the form names no choice; add using choice = a dim, as long as each token has experts
#ifdef COMPILE_FAIL
auto f(const weights<unrouted>& p, const tokens& x) {
  return dm::nn::dropless_mixture<rows, over_rows>(m<unrouted>, p, x);
}
#else
auto f(const weights<routed>& p, const tokens& x) {
  return dm::nn::dropless_mixture<rows, over_rows>(m<routed>, p, x);
}
#endif

// mistake: incomplete_form__slot
// expect: nn: the form names no slot; add using slot = a dim, as long as each expert has places for tokens
#ifdef COMPILE_FAIL
auto f(const weights<routed>& p, const tokens& x) {
  return dm::nn::mixture<over_rows>(m<routed>, p, x);
}
#else
auto f(const weights<complete>& p, const tokens& x) {
  return dm::nn::mixture<over_rows>(m<complete>, p, x);
}
#endif
