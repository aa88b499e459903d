// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do all elements move by some places along a dim? Element i of the result is element i - k of
// the operand; whole blocks and remainders travel to the ranks that hold the new places.
//
//   shift<time>(x, 1, boundary::zero)   -> x delayed by one; its first element is 0
//   shift<ring>(x, -2)                  -> element i is element i + 2, around the end
#pragma once

#include "dimesh/op/parts/along.hpp"

namespace dimesh {

namespace detail {

/// Around a ring only the remainder counts; farther than all elements there are zeros only.
constexpr window shift_window(index_t by, boundary ends, index_t extent) {
  if (ends == boundary::periodic) return {extent > 0 ? by % extent : 0};
  return {by > extent ? extent : by < -extent ? -extent : by};
}
/// with: the dim, how far, and what lies beyond its ends.
struct shift_plan : move_plan, window_moves {
  shift_plan(const tensor_core& x, const tensor_core&, const plan_hints& with)
      : shift_plan(x,
                   cut_dim(placement_of(x), x.layout(), static_cast<int>(with[0]),
                           static_cast<boundary>(with[2])),
                   with[1]) {}

 private:
  shift_plan(const tensor_core& x, const cut_dim& dim, index_t by)
      : window_moves(*x.grid, dim, shift_window(by, dim.ends, dim.extent()), stored_array(x),
                     stored_array(x), false) {}
};

/// Elements T, along dim d.
template <class T> struct shift_op {
  int d = 0;
  index_t by = 0;
  boundary ends = boundary::periodic;
  static constexpr bool takes_complex = true;

  constexpr cut_dim dim_of(const tensor_core& x) const {
    return cut_dim(placement_of(x), x.layout(), d, ends);
  }
  /// By the remainder: there are not more plans than moves, however far a program goes around.
  const shift_plan& plan(const tensor_core& x) const {
    const index_t near = shift_window(by, ends, x.extent(d)).shift;
    return plan_of<shift_plan>(x, x, {d, near, static_cast<index_t>(ends)});
  }
  void fill(results y, operands x) const {
    const shift_plan& p = plan(x[0]);
    zero_beyond(p, y[0].data<T>());
    move_windows<false, T>(p, x[0].memory, y[0].memory, "shift");
  }
  void start(results y, operands x, flight& f) const {
    const shift_plan& p = plan(x[0]);
    zero_beyond(p, y[0].data<T>());
    f.keep(p);
    start_windows<T>(p, x[0].memory, y[0].memory, "shift",
                     window_tag(p, "shift", collective::wire_of<T>, f), f);
    f.land = [](flight& g, tensor_core& to) {
      unpack_windows<false>(static_cast<const shift_plan&>(*g.plan),
                            static_cast<const T*>(g.in.data()), to.data<T>());
      return true;
    };
  }
  bool only_messages(results, operands x) const { return plan(x[0]).is_in_place(); }
  void before_messages(results y, operands x) const {
    const shift_plan& p = plan(x[0]);
    zero_beyond(p, y[0].data<T>());
    for (const moved_box& b : p.kept) b.move<false>(x[0].data<const T>(), y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t rows = x[0].local(d) > 0 ? x[0].bytes() / x[0].local(d) : 0;
    const cut_dim dim = dim_of(x[0]);
    count_windows(t, dim, shift_window(by, ends, dim.extent()), rows, false);
    t.compute(0, 2 * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    const index_t near = shift_window(by, ends, to.x(0).extent(d)).shift;
    to.give(0, shift_op{d, -near, ends}, to.ybar);
  }
};

template <class D> struct shift_rule : keeps_dims {
  using named = list<D>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return halo_rule_of(x[0], dims_in<named>, nullptr);
  }
};

}  // namespace detail

/// Element i of the result is element i - k of x along D, around the end or from zeros; k is any
/// number. Shapes and layouts stay. Communicates where D is split: one message to each rank that
/// needs elements of this one, and no others travel. Transpose: the shift by -k.
template <Dim D, Operand X>
constexpr auto shift(const X& x, index_t k, boundary ends = boundary::periodic) {
  using rule = detail::shift_rule<D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "shift: the tensor lacks the dim to move along; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "shift: the blocks carry halos along this dim; shift before halo_exchange instead");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(
        detail::shift_op<value_of<X>>{detail::index_of<D, typename spec_of<X>::dims>, k, ends}, x);
}

}  // namespace dimesh
