// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a block come to see its neighbours' edges? Each rank gets W elements of dim D on either
// side of its block, or as many before and behind it as are named, and keeps them beside it; the
// type says so. One text serves every layout: where the dim is not split the halo comes from the
// dim's own ends.
//
//   halo_exchange<1, row>(tensor<T, layout<pod, split<row, rows>>, row, col>)
//     -> tensor<T, layout<pod, split<halo<row, 1>, rows>>, row, col>      block + 2 rows
//   halo_exchange<halo<row, 2, 0>>(the same)                               block + 2 rows before it
//     -> tensor<T, layout<pod, split<halo<row, 2, 0>, rows>>, row, col>    half the bytes
//
// Along several dims: one after the other; the second sends the first one's halos too, so corners
// are right. The backward pass sends halos back and adds them to their owners' elements.
#pragma once

#include "dimesh/op/parts/halo_plan.hpp"

namespace dimesh {

namespace detail {

/// Halos along dim D alone.
template <int D, index_t Before, index_t After> struct with_halo {
  static constexpr table of(table t) {
    t.halo[D] = {Before, After};
    return t;
  }
};

template <class T> struct halo_back_op;

/// Elements T: the operand, and halos around it.
template <class T> struct halo_exchange_op {
  static constexpr bool takes_complex = true;
  halo_stages stages;

  void fill(results y, operands x) const {
    const halo_plan& p = halo_plan::of(y[0], stages, false);
    p.inside.move<false>(x[0].data<const T>(), y[0].data<T>());
    p.fill<T>(y[0].memory);
  }
  void start(results y, operands x, flight& f) const {
    const halo_plan& p = halo_plan::of(y[0], stages, false);
    p.inside.move<false>(x[0].data<const T>(), y[0].data<T>());
    p.start<T>(y[0].memory, f);
  }
  bool only_messages(results y, operands) const {
    return halo_plan::of(y[0], stages, false).only_stage() >= 0;
  }
  void before_messages(results y, operands x) const {
    const halo_plan& p = halo_plan::of(y[0], stages, false);
    p.inside.move<false>(x[0].data<const T>(), y[0].data<T>());
    p.fill_locally(0, p.only_stage() + 1, y[0].data<T>());
  }
  void after_messages(results y, operands) const {
    const halo_plan& p = halo_plan::of(y[0], stages, false);
    p.fill_locally(p.only_stage() + 1, stages.count, y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    stages.cost(t, placement_of(x[0]), x[0].layout(), y[0], false);
    t.compute(0, x[0].bytes() + y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, halo_back_op<T>{stages}, to.ybar); }
};

/// Gives every element what its copies in halos hold, added up.
template <class T> struct halo_back_op {
  static constexpr bool takes_complex = true;
  halo_stages stages;

  void fill(results y, operands x) const {
    const storage sums = storage::acquire(static_cast<std::size_t>(x[0].bytes()));
    copy_bytes(sums.data(), x[0].memory.data(), x[0].bytes());
    const halo_plan& p = halo_plan::of(x[0], stages, true);
    p.fold<T>(sums);
    p.inside.move<false>(static_cast<const T*>(sums.data()), y[0].data<T>());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    stages.cost(t, placement_of(x[0]), y[0].layout(), x[0], true);
    t.compute(0, 3 * x[0].bytes() + y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, halo_exchange_op<T>{stages}, to.ybar);
  }
};

/// H: a dim, and what it gets.
template <class... H> struct halo_exchange_rule : keeps_dims {
  using named = list<typename bare_dim<H>::type...>;
  static constexpr halo_widths widths[] = {bare_dim<H>::halo...};
  static constexpr outcome of(rule_operands x, dim_list) {
    return halo_rule_of(x[0], dims_in<named>, widths);
  }
};
template <class... H, class X> constexpr auto exchange_halos(const X& x, boundary ends) {
  using rule = halo_exchange_rule<H...>;
  if constexpr (!ok<fault_of<rule, X>> || is_poison<X> || !(bare_dim<H>::halo.any() && ...)) {
    return poison{};
  } else {
    halo_stages stages{ends};
    (stages.add(index_of<typename bare_dim<H>::type, typename spec_of<X>::dims>, bare_dim<H>::halo),
     ...);
    return apply_rule<rule, value_of<X>>(halo_exchange_op<value_of<X>>{stages}, x);
  }
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(halo_exchange_op<float>, 0);
DIMESH_INSTANCE(halo_exchange_op<float>, 1);
DIMESH_INSTANCE(halo_exchange_op<double>, 0);
DIMESH_INSTANCE(halo_exchange_op<double>, 1);

}  // namespace detail

/// x with W elements more on either side of each block along D..., corners included. Local shapes:
/// [.., n, ..] -> [.., n + 2W, ..]. Beyond the dims' ends there are zeros, or their other ends.
/// Blocks may be shorter than W.
template <index_t W, Dim... D, Operand X>
  requires(sizeof...(D) > 0)
constexpr auto halo_exchange(const X& x, boundary ends = boundary::zero) {
  constexpr bool fits = W >= 1 && W <= max_halo;
  static_assert(fits, "halo_exchange: a halo is 1 to max_halo elements wide; give such a width");
  using fault = detail::fault_of<detail::halo_exchange_rule<D...>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "halo_exchange: the tensor lacks the dim; name one of its dims");
  static_assert(ok<only<fault, dim_repeated>>,
                "halo_exchange: a dim is named twice; name it once, with a wider halo if that is "
                "meant");
  static_assert(ok<only<fault, dim_has_halo>>,
                "halo_exchange: the blocks carry a halo along this dim already; exchange once, as "
                "wide as needed");
  return detail::exchange_halos<halo<D, fits ? W : 0>...>(x, ends);
}
/// The same with widths of its own for each dim: H is halo<D, before, after>, or halo<D, W>. Local
/// shapes: [.., n, ..] -> [.., before + n + after, ..]. A side of width 0 sends and keeps nothing.
// (Its assertions stand here, too: of a function that both call, the message would be longer.)
template <class... H, Operand X>
  requires(sizeof...(H) > 0 && (detail::is_dim_with_halo<H> && ...))
constexpr auto halo_exchange(const X& x, boundary ends = boundary::zero) {
  constexpr bool all_fit = !(detail::is_no_halo<H> || ...);
  static_assert(all_fit, "halo_exchange: a halo is 1 to max_halo elements wide; give such a width");
  using fault = detail::fault_of<detail::halo_exchange_rule<H...>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "halo_exchange: the tensor lacks the dim; name one of its dims");
  static_assert(ok<only<fault, dim_repeated>>,
                "halo_exchange: a dim is named twice; name it once, with a wider halo if that is "
                "meant");
  static_assert(ok<only<fault, dim_has_halo>>,
                "halo_exchange: the blocks carry a halo along this dim already; exchange once, as "
                "wide as needed");
  return detail::exchange_halos<H...>(x, ends);
}

}  // namespace dimesh
