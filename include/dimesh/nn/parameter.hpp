// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a parameter say with which numbers training begins? By its declared type, which to all
// else is the tensor's: the struct's layout in its place is asked for distributions instead.
//
//   template <class L> struct linear {
//     using weight_type = nn::parameter<nn::he_normal<pixel>, float, L, pixel, hidden>;
//     using bias_type = nn::parameter<nn::zeros, float, L, hidden>;
//     BOOST_HANA_DEFINE_STRUCT(linear, (weight_type, weight), (bias_type, bias));
//   };
//   linear<L>::weight          is a tensor<float, L, pixel, hidden>
//   linear<stating<L>>::weight is an he_normal<pixel>
#pragma once

#include <algorithm>
#include <cmath>
#include <ratio>

#include "dimesh/fill.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::nn {

/// A modifier of a layout: in its place, a struct of parameters is one of their distributions.
template <class L> struct stating {
  using mesh = typename L::mesh;
};

namespace detail {
/// Structs of parameters under this layout say how their members are called under any.
struct nowhere {
  using mesh = void;
};

/// In place of a tensor that is declared without a distribution.
struct states_nothing {};

template <class How, class T, class L, class... D> struct parameter_type {
  using type = tensor<T, L, D...>;
};
template <class How, class T, class L, class... D> struct parameter_type<How, T, stating<L>, D...> {
  using type = How;
};
}  // namespace detail

/// A tensor<T, L, D...> in a struct of parameters that nn::initialize fills as How says: one of the
/// distributions below, or a struct of one's own with operator()(X& x, random_key key) const.
template <class How, class T, class L, Dim... D>
using parameter = typename detail::parameter_type<How, T, L, D...>::type;

// ---- distributions ------------------------------------------------------------------------------

namespace detail {
template <class Ratio>
inline constexpr double number = static_cast<double>(Ratio::num) / static_cast<double>(Ratio::den);

/// At least 1: tensors without elements get a finite deviation too.
template <class X, class... D> double extents_of(const X& x, shape<D...>) {
  return std::max(1.0, (1.0 * ... * static_cast<double>(x.template extent<D>())));
}
/// It reads no layout of the tensors that it fills.
template <class How> inline constexpr bool states_dims_alone = false;
template <class X> void fill_deviating(X& x, random_key key, double deviation) {
  fill_normal(x, key, 0, static_cast<computed<value_of<X>>>(deviation));
}
}  // namespace detail

/// All 0: biases.
struct zeros {
  template <Tensor X> void operator()(X& x, random_key) const { fill(x, 0); }
};
/// All 1: the gains of norms.
struct ones {
  template <Tensor X> void operator()(X& x, random_key) const { fill(x, 1); }
};
/// Normal with mean 0 and a standard deviation: normal<std::ratio<2, 100>>.
template <class Deviation> struct normal {
  template <Tensor X> void operator()(X& x, random_key key) const {
    detail::fill_deviating(x, key, detail::number<Deviation>);
  }
};
/// The same divided by the root of N: a product of which N are added up (Radford et al. 2019,
/// section 2.3).
template <class Deviation, int N> struct normal_in_sum {
  template <Tensor X> void operator()(X& x, random_key key) const {
    detail::fill_deviating(x, key, detail::number<Deviation> / std::sqrt(double{N}));
  }
};
/// Normal with variance 1 / fan-in, the product of the extents of In...: signals keep their size
/// in linear layers (LeCun et al. 1998).
template <Dim... In> struct normal_by_fan_in {
  template <Tensor X> void operator()(X& x, random_key key) const {
    detail::fill_deviating(x, key, std::sqrt(1 / detail::extents_of(x, shape<In...>{})));
  }
};
/// The same before a rectifier: variance 2 / fan-in (He et al. 2015).
template <Dim... In> struct he_normal {
  template <Tensor X> void operator()(X& x, random_key key) const {
    detail::fill_deviating(x, key, std::sqrt(2 / detail::extents_of(x, shape<In...>{})));
  }
};
/// Uniform with variance 2 / (fan-in + fan-out); In and Out are shapes (Glorot and Bengio 2010).
template <class In, class Out> struct glorot_uniform {
  template <Tensor X> void operator()(X& x, random_key key) const {
    const double fans = detail::extents_of(x, In{}) + detail::extents_of(x, Out{});
    const auto limit = static_cast<computed<value_of<X>>>(std::sqrt(6 / fans));
    fill_uniform(x, key, -limit, limit);
  }
};

namespace detail {
template <> inline constexpr bool states_dims_alone<zeros> = true;
template <> inline constexpr bool states_dims_alone<ones> = true;
template <class Deviation> inline constexpr bool states_dims_alone<normal<Deviation>> = true;
template <class Deviation, int N>
inline constexpr bool states_dims_alone<normal_in_sum<Deviation, N>> = true;
template <class... In> inline constexpr bool states_dims_alone<normal_by_fan_in<In...>> = true;
template <class... In> inline constexpr bool states_dims_alone<he_normal<In...>> = true;
template <class In, class Out>
inline constexpr bool states_dims_alone<glorot_uniform<In, Out>> = true;
}  // namespace detail

}  // namespace dimesh::nn

namespace dimesh::detail {
template <class T, class L, class... D> struct tensor_type<T, nn::stating<L>, D...> {
  using type = nn::detail::states_nothing;
};
template <class L> struct unmodified_layout<nn::stating<L>> {
  using type = L;
};
}  // namespace dimesh::detail
