// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of experts is given the whole struct, other tokens, or is taken for a tensor.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/experts.hpp>

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
template <class... D> using tokens = dm::tensor<float, by_batch, batch, D...>;
using weights = dm::nn::mixture_parameters<over_rows, form>;
template <class P> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (P, moe));
};
using layers = layer<weights>;
const dm::nn::model<by_batch, form> m;
struct best {
  template <class X> auto operator()(const X& of) const {
    return dm::nn::route_by<length, expert, choice>(dm::nn::gating{}, of, of);
  }
};
using x_type = tokens<length, model>;

// mistake: wrong_arguments__mixture
// expect: mixture: the arguments are a model, the parameters of a mixture and tokens, and perhaps which of these count: mixture<experts>(m, p.moe, x)
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<over_rows>(m, p, x); }
#else
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<over_rows>(m, p.moe, x); }
#endif

// mistake: wrong_arguments__mixture_by
// expect: mixture_by: the arguments are a model, the parameters of a mixture, tokens and a routing: mixture_by<experts>(m, p.moe, x, how)
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) { return dm::nn::mixture_by<over_rows>(m, p.moe, x); }
#else
auto f(const layers& p, const x_type& x) {
  return dm::nn::mixture_by<over_rows>(m, p.moe, x, best{});
}
#endif

// mistake: wrong_arguments__dropless_mixture
// expect: dropless_mixture: takes an axis and the experts' layout, a model, the parameters of a mixture and tokens: dropless_mixture<rows, experts>(m, p.moe, x)
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) {
  return dm::nn::dropless_mixture<over_rows>(m, p.moe, x);
}
#else
auto f(const layers& p, const x_type& x) {
  return dm::nn::dropless_mixture<rows, over_rows>(m, p.moe, x);
}
#endif

// mistake: wrong_arguments__dropless_mixture_by
// expect: dropless_mixture_by: takes an axis and the experts' layout, a model, parameters, tokens, a routing: dropless_mixture_by<rows, experts>(m, p.moe, x, how)
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) {
  return dm::nn::dropless_mixture_by<rows, over_rows>(p.moe, m, x, best{});
}
#else
auto f(const layers& p, const x_type& x) {
  return dm::nn::dropless_mixture_by<rows, over_rows>(m, p.moe, x, best{});
}
#endif

// mistake: not_a_layout__mixture
// expect: mixture: the layout of the experts stands in the angle brackets, if any: mixture<experts>(m, p.moe, x)
// expect: not_a_layout<rows>
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<rows>(m, p.moe, x); }
#else
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<over_rows>(m, p.moe, x); }
#endif

// mistake: dim_not_in_tensor__mixture
// expect: mixture, dropless_mixture: tokens have the form's length and model among their dims; rename theirs, or let the form name these
// expect: dim_not_in_tensor<length>
#ifdef COMPILE_FAIL
auto f(const layers& p, const tokens<model>& x) { return dm::nn::mixture<over_rows>(m, p.moe, x); }
#else
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<over_rows>(m, p.moe, x); }
#endif

// mistake: wrong_arguments__tensor_plus_mixture
// expect: operator+: a mixture gives more than tokens, which are its .y: x + mixture<experts>(m, p.moe, x).y
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) { return x + dm::nn::mixture<over_rows>(m, p.moe, x); }
#else
auto f(const layers& p, const x_type& x) { return x + dm::nn::mixture<over_rows>(m, p.moe, x).y; }
#endif

// mistake: wrong_arguments__mixture_plus_tensor
// expect: operator+: a mixture gives more than tokens, which are its .y: mixture<experts>(m, p.moe, x).y + x
#ifdef COMPILE_FAIL
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<over_rows>(m, p.moe, x) + x; }
#else
auto f(const layers& p, const x_type& x) { return dm::nn::mixture<over_rows>(m, p.moe, x).y + x; }
#endif
