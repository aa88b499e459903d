// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a model know where a token stands? By vectors added to those of the tokens, learned or
// waves of many lengths; or by rotations of queries and keys (op/rotary.hpp).
//
//   waves<length, model>(x[batch/rows, length, model])              -> [length, model]
//   add_positions(m, p[length, model], x[batch, length, model])     -> like x
#pragma once

#include <cmath>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/nn/config.hpp"
#include "dimesh/nn/project.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/operation.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh::nn {

namespace detail {

/// What splits one of the result's dims in x splits it still, and it lives where x does; all else
/// is replicated.
template <class Length, class Model> struct waves_rule {
  template <class...> struct dims {
    using type = dim_types<Length, Model>;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    auto t = x[0].layout;
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what != use::split && t.axis[a].what != use::placed) t.axis[a] = {};
    return allowed(table_over_dims(t, x[0].dims(), out));
  }
};

/// One number: the sine or cosine at one place of one position.
template <class T> struct wave_at {
  index_t width, first_place, first_position;
  double base, places;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const index_t place = first_place + e % width;
    const double rate = std::pow(base, -static_cast<double>(place / 2 * 2) / places);
    const double turn = rate * static_cast<double>(first_position + e / width);
    y[e] = static_cast<T>(place % 2 == 0 ? std::sin(turn) : std::cos(turn));
  }
};

/// y[Length, Model] beside x, of which only grid, extents and layout matter. Elements T.
template <class T> struct waves_op {
  double base;
  index_t offset;

  constexpr void cost(cost_counter& c, results y, operands) const {
    c.compute(y[0].elements(), y[0].bytes());
  }
  void fill(results to, operands) const {
    const dimesh::detail::writes_memory kernel;
    const tensor_core& y = to[0];
    const auto places = static_cast<double>(y.extent(1));
    using space = local::default_space;
    if constexpr (!local::detail::runs_on_host<space>)
      if (!local::detail::moves_to_host<space>())
        return local::detail::each_for_itself<space>(
            y.elements(), wave_at<T>{y.local(1), y.own(1).offset, offset + y.own(0).offset, base,
                                     places, y.data<T>()});
    for (index_t j = 0; j < y.local(1); ++j) {
      const index_t place = y.own(1).offset + j;
      const double rate = std::pow(base, -static_cast<double>(place / 2 * 2) / places);
      for (index_t i = 0; i < y.local(0); ++i) {
        const double turn = rate * static_cast<double>(offset + y.own(0).offset + i);
        y.data<T>()[i * y.local(1) + j] =
            static_cast<T>(place % 2 == 0 ? std::sin(turn) : std::cos(turn));
      }
    }
  }
};
}  // namespace detail

/// Sines (even places of Model) and cosines (odd ones) of the positions along Length, of which the
/// first is `offset`; wave lengths from 2 pi to base 2 pi (Vaswani et al. 2017, section 3.5).
/// Shapes: [Length, Model], split as x splits them.
template <Dim Length, Dim Model, Operand X>
constexpr auto waves(const X& x, double base = 10000, index_t offset = 0) {
  if constexpr (is_poison<X>)
    return poison{};
  else
    return apply_rule<detail::waves_rule<Length, Model>, value_of<X>>(
        detail::waves_op<value_of<X>>{base, offset}, stop_gradient(x));
}

/// x with what M::positions adds to it; p are the learned vectors. Shapes: as x.
template <Layout C, class M, class P, Operand X>
constexpr auto add_positions(const model<C, M>& m, const P& p, const X& x) {
  if constexpr (M::positions == position_kind::learned)
    return x + detail::brought_to(m, x, p);
  else if constexpr (M::positions == position_kind::sinusoidal)
    return x + waves<typename M::length, typename M::model>(x);
  else
    return x;
}

}  // namespace dimesh::nn
