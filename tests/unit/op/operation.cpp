// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/operation.hpp"

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

namespace dm = dimesh;

// Operations written with public names alone, in a namespace of their own.
namespace user {

struct batch : dm::dim<8> {};
struct width : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct line : dm::mesh<rows> {};
using halves = dm::layout<line, dm::split<batch, rows>>;
using columns = dm::layout<line, dm::split<width, rows>>;

/// x with elements T, and a number for each row that serves the transpose.
template <class T, class From> struct widen_op {
  void fill(dm::results, dm::operands) const {}
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
    c.compute(y[0].elements(), y.bytes() + bytes_of(x));
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, back{}, to.ybar, to.y(1)); }
  struct back {
    void fill(dm::results, dm::operands) const {}
    constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
      c.compute(1000, y.bytes() + bytes_of(x));
    }
  };
};
struct widen {
  template <dm::Tensor X> constexpr auto operator()(const X& x) const {
    using S = dm::with_element<dm::spec_of<X>, double>;
    return dm::apply_as<dm::specs<S, dm::without_dims<S, width>>>(
        widen_op<double, dm::value_of<X>>{}, x);
  }
};
struct gradient {
  template <class X> constexpr auto operator()(const X& x) const {
    const auto loss = [](const auto& p) { return dm::sum(widen{}(p)); };
    return dm::value_and_grad(loss, x)().gradient;
  }
};

// ---- specs --------------------------------------------------------------------------------------
template <class L> using table = dm::tensor<float, L, batch, width>;
template <class L> using S = dm::spec_of<table<L>>;
static_assert(std::is_same_v<dm::with_element<S<halves>, double>,
                             dm::spec_of<dm::tensor<double, halves, batch, width>>>);
static_assert(std::is_same_v<dm::without_dims<S<halves>, width>,
                             dm::spec_of<dm::tensor<float, halves, batch>>>);
static_assert(!dm::is_partial<S<halves>> && dm::is_partial<dm::without_dims<S<columns>, width>>);
static_assert(dm::place_of<S<halves>, width> == 1 &&
              dm::place_of<dm::without_dims<S<halves>, batch>, batch> == -1);

// ---- results and costs, of the run and of its gradient ------------------------------------------
template <class L> using shape = dm::tensor<float, dm::shaped<L>, batch, width>;
static_assert(std::is_same_v<decltype(widen{}(shape<halves>{})),
                             dm::tensor<double, dm::shaped<halves>, batch, width>>);
static_assert(
    std::is_same_v<decltype(widen{}(table<halves>{})), dm::tensor<double, halves, batch, width>>);
constexpr auto forward = dm::cost_of<widen, shape<halves>>;
static_assert(forward.flops == 24 && forward.moved == 24 * 8 + 4 * 8 + 24 * 4);
static_assert(forward.peak == 24 * 4 + 24 * 8 + 4 * 8);  // the rows' numbers while it runs
constexpr auto both = dm::cost_of<gradient, shape<halves>>;
static_assert(both.flops > 1000 + 24 && both.bytes<> == 0);

}  // namespace user
