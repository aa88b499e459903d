// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields that a stencil does not take side by side, and functions of neighbours that it does not
// call.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/stencil_exchange.hpp>

#include "names.hpp"

struct other_mesh : dm::mesh<cols, rows> {};
template <class... R> using under = dm::tensor<float, dm::layout<pod, R...>, batch, hidden>;
using plain = under<>;
using split = under<dm::split<batch, rows>>;
using haloed = under<dm::split<dm::halo<batch, 1>, rows>>;
using apart = dm::tensor<float, dm::layout<other_mesh>, batch, hidden>;
using part = dm::tensor<float, dm::layout<pod, dm::split<batch, rows>>, batch>;
using here = under<dm::placed<rows, 0>>;
using there = under<dm::placed<rows, 1>>;
template <class X> const X& given();
struct both {
  template <class U, class V> auto operator()(const U& u, const V& v) const {
    return dm::at<>(u) + dm::at<>(v);
  }
};
struct own {
  template <class U> auto operator()(const U& u) const { return dm::at<>(u); }
};
struct none {
  template <class... U> auto operator()(const U&...) const { return 1.0F; }
};

// mistake: stencils__meshes
// expect: stencil: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(both{}, given<plain>(), given<apart>()); }
#else
auto f() { return dm::stencil(both{}, given<plain>(), given<plain>()); }
#endif

// mistake: stencils__places
// expect: stencil: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(both{}, given<here>(), given<there>()); }
#else
auto f() { return dm::stencil(both{}, given<here>(), given<here>()); }
#endif

// mistake: stencils__one_axis
// expect: stencil: the operands split different dims over one mesh axis; relayout one
// expect: dims_share_mesh_axis<
struct tall : dm::dim<4> {};
using of_batch = dm::tensor<float, dm::layout<pod, dm::split<batch, rows>>, batch>;
using of_tall = dm::tensor<float, dm::layout<pod, dm::split<tall, rows>>, tall>;
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(both{}, given<of_batch>(), given<of_tall>()); }
#else
auto f() { return dm::stencil(both{}, given<of_batch>(), given<of_batch>()); }
#endif

// mistake: stencils__one_only
// expect: stencil: one operand has only its block of this dim, another has all of it; take own<dim, axis> of the other, or gather the one
// expect: dim_split_in_one_operand_only<batch, rows>
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(both{}, given<split>(), given<plain>()); }
#else
auto f() { return dm::stencil(both{}, given<split>(), given<split>()); }
#endif

// mistake: stencils__differently
// expect: stencil: the operands split this dim in different ways; relayout one of them
// expect: dim_split_differently<batch>
using by_both = under<dm::split<batch, rows, cols>>;
using by_cols_first = under<dm::split<batch, cols, rows>>;
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(both{}, given<by_both>(), given<by_cols_first>()); }
#else
auto f() { return dm::stencil(both{}, given<by_both>(), given<by_both>()); }
#endif

// mistake: stencils__addends
// expect: stencil: an operand is a sum yet to be made; complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(own{}, given<under<dm::partial<rows>>>()); }
#else
auto f() { return dm::stencil(own{}, given<plain>()); }
#endif

// mistake: stencils__not_const
// expect: stencil: the function changes itself or its arguments; take accessors as const auto&, and let operator() be const
struct counting {
  int calls = 0;
  template <class U> auto operator()(const U& u) {
    ++calls;
    return dm::at<>(u);
  }
};
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(counting{}, given<plain>()); }
#else
auto f() { return dm::stencil(own{}, given<plain>()); }
#endif

// mistake: stencils__plain_only
// expect: stencil: where gradients are wanted elements are dual numbers, and the function takes plain ones; let what it calls take auto
// expect: function_takes_plain_only<
struct doubled {
  template <class U>
  auto operator()(const U& u) const
    requires std::same_as<decltype(dm::at<>(u)), float>
  {
    return 2 * dm::at<>(u);
  }
};
using recorded = dm::tracked_tensor<plain>;
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(doubled{}, given<recorded>()); }
#else
auto f() { return dm::stencil(doubled{}, given<plain>()); }
#endif

// mistake: stencils__distances
// expect: at: one distance is needed for each dim; give as many
// levels: 1
struct beside {
  template <class U> auto operator()(const U& u) const {
#ifdef COMPILE_FAIL
    return dm::at<batch>(u) + dm::at<>(u);
#else
    return dm::at<batch>(u, 1) + dm::at<>(u);
#endif
  }
};
auto f() { return dm::stencil(beside{}, given<haloed>()); }

// mistake: stencils__half_a_step
// expect: at: distances are whole numbers; the element at 1 is the next one
// levels: 1
struct beside {
  template <class U> auto operator()(const U& u) const {
#ifdef COMPILE_FAIL
    return dm::at<batch>(u, 0.5) + dm::at<>(u);
#else
    return dm::at<batch>(u, 1) + dm::at<>(u);
#endif
  }
};
auto f() { return dm::stencil(beside{}, given<haloed>()); }

// mistake: stencils__exchange_meshes
// expect: stencil_exchange: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() {
  return dm::stencil_exchange(both{}, dm::boundary::zero, given<haloed>(), given<apart>());
}
#else
auto f() {
  return dm::stencil_exchange(both{}, dm::boundary::zero, given<haloed>(), given<haloed>());
}
#endif

// mistake: stencils__exchange_places
// expect: stencil_exchange: the operands live on different ranks of this axis; place<axis, k> what all of them hold (free), or send<axis, k> the other
#ifdef COMPILE_FAIL
auto f() { return dm::stencil_exchange(both{}, dm::boundary::zero, given<here>(), given<there>()); }
#else
auto f() { return dm::stencil_exchange(both{}, dm::boundary::zero, given<here>(), given<here>()); }
#endif

// mistake: stencils__exchange_one_only
// expect: stencil_exchange: the operands split their dims in different ways; relayout one
// expect: dim_split_in_one_operand_only<batch, rows>
#ifdef COMPILE_FAIL
auto f() {
  return dm::stencil_exchange(both{}, dm::boundary::zero, given<haloed>(), given<plain>());
}
#else
auto f() {
  return dm::stencil_exchange(both{}, dm::boundary::zero, given<haloed>(), given<split>());
}
#endif

// mistake: stencils__exchange_addends
// expect: stencil_exchange: an operand is a sum yet to be made; complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f() {
  return dm::stencil_exchange(own{}, dm::boundary::zero, given<under<dm::partial<rows>>>());
}
#else
auto f() { return dm::stencil_exchange(own{}, dm::boundary::zero, given<haloed>()); }
#endif

// mistake: stencils__exchange_order
// expect: stencil_exchange: the first operand lacks a dim of another; let the first be the one with all dims
// expect: dim_not_in_tensor<hidden>
#ifdef COMPILE_FAIL
auto f() { return dm::stencil_exchange(both{}, dm::boundary::zero, given<part>(), given<split>()); }
#else
auto f() { return dm::stencil_exchange(both{}, dm::boundary::zero, given<split>(), given<part>()); }
#endif

// mistake: stencils__seventeen
// expect: stencil: there are 16 operands at most; stack some of them
template <class X> auto of_four(const X& x) { return dm::stencil(none{}, x, x, x, x); }
#ifdef COMPILE_FAIL
auto f(const part& x) {
  return dm::stencil(none{}, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x);
}
#else
auto f(const part& x) { return of_four(x); }
#endif

// mistake: stencils__fifteen_twice_recorded
// expect: stencil: too many operands for gradients of gradients; at most 14 are supported
// lines: 11
struct wants_none {
  static constexpr int depth = 1;
  constexpr bool wants(int) const { return false; }
  template <class... X> constexpr void give(const X&...) const {}
};
template <int... N> void give(std::integer_sequence<int, N...>) {
  dm::detail::give_recorded<1u>(wants_none(), 0, none(), N...);
}
#ifdef COMPILE_FAIL
auto f() { return give(std::make_integer_sequence<int, 17>()); }
#else
auto f() { return give(std::make_integer_sequence<int, 16>()); }
#endif

// mistake: stencils__other_halo
// expect: at: the tensor has no halo along this dim, so no neighbours; call halo_exchange first, or leave the dim out
// expect: dim_has_no_halo<hidden>
// levels: 1
struct along_hidden {
  template <class U> auto operator()(const U& u) const { return dm::at<hidden>(u, 1); }
};
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(along_hidden{}, given<haloed>()); }
#else
auto f() { return dm::stencil(along_hidden{}, dm::halo_exchange<1, hidden>(given<plain>())); }
#endif

// mistake: stencils__five_points
// Neighbours along two dims of what has no halos: one mistake.
// expect: at: the tensor carries no halos, so no neighbours; exchange them first, with a width and dims: halo_exchange<1, row, col>(x)
// expect: dim_has_no_halo<batch, hidden>
// levels: 2
struct five_points {
  template <class U> auto operator()(const U& u) const {
    return dm::at<batch>(u, -1) + dm::at<batch>(u, 1) + dm::at<hidden>(u, -1) +
           dm::at<hidden>(u, 1) - 4 * dm::at<>(u);
  }
};
#ifdef COMPILE_FAIL
auto f() { return dm::stencil(five_points{}, given<split>()); }
#else
auto f() { return dm::stencil(five_points{}, dm::halo_exchange<1, batch, hidden>(given<split>())); }
#endif
