// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a block come to see its neighbours' edges? Each rank gets W elements of dim D on either
// side of its block and keeps them beside it; the type says so. One text serves every layout: where
// the dim is not split the halo comes from the dim's own ends.
//
//   halo_exchange<1, row>(tensor<T, layout<pod, split<row, rows>>, row, col>)
//     -> tensor<T, layout<pod, split<halo<row, 1>, rows>>, row, col>      block + 2 rows
//
// Along several dims: one after the other; the second sends the first one's halos too, so corners
// are right. The backward pass sends halos back and adds them to their owners' elements.
#pragma once

#include "dimesh/op/parts/along.hpp"

namespace dimesh {

namespace detail {

template <index_t W, int... D> struct with_halo {
  static constexpr table of(table t) {
    ((t.halo[D] = static_cast<signed char>(W)), ...);
    return t;
  }
};

/// The exchange of halos along some dims, one after the other, in an array that has them all.
struct halo_stages {
  boundary ends = boundary::zero;
  int count = 0;
  int dims[max_dims]{};
  index_t width[max_dims]{};

  constexpr halo_stages& add(int dim, index_t w) {
    dims[count] = dim;
    width[count++] = w;
    return *this;
  }

  /// An array (with halos along all of D...) as stage i sees it: those of later dims are not there
  /// yet.
  template <class T> region<T> at_stage(region<T> all, int i) const {
    for (int later = i + 1; later < count; ++later) all = all.within(dims[later], width[later]);
    return all;
  }
  template <class T> region<T> interior(const region<T>& all) const { return at_stage(all, -1); }

  /// Fills the halos of y, whose interior holds the blocks under table t.
  template <class T>
  void fill(const grid_state& grid, const placement& where, const table& t,
            const region<T>& y) const {
    for (int i = 0; i < count; ++i) {
      const cut_dim dim(where, t, dims[i], ends);
      const region<T> halo = at_stage(y, i);
      if (ends == boundary::zero || dim.extent() == 0) zero_ends(dim, width[i], halo);
      move_windows<false, T>(grid, dim, {0, width[i]}, halo.within(dims[i], width[i]), halo,
                             "halo_exchange");
    }
  }
  /// Adds what the halos of y hold to the elements that they are copies of.
  template <class T>
  void fold(const grid_state& grid, const placement& where, const table& t,
            const region<T>& y) const {
    for (int i = count - 1; i >= 0; --i) {
      const cut_dim dim(where, t, dims[i], ends);
      const region<T> halo = at_stage(y, i);
      move_windows<true, T>(grid, dim, {0, width[i]}, halo, halo.within(dims[i], width[i]),
                            "halo_exchange");
    }
  }
  /// The messages of all stages; y has the halos.
  constexpr void cost(tally& counts, const placement& where, const table& t, const tensor_core& y,
                      bool back) const {
    for (int i = 0; i < count; ++i) {
      index_t across = y.facts->element;
      for (int d = 0; d < y.rank(); ++d) {
        index_t n = y.local(d);
        for (int later = i + 1; later < count; ++later)
          n -= dims[later] == d ? 2 * width[later] : 0;
        across *= d == dims[i] ? 1 : n;
      }
      count_windows(counts, cut_dim(where, t, dims[i], ends), {0, width[i]}, across, back);
    }
  }
  /// Zeros where the window leaves the dim.
  template <class T> static void zero_ends(const cut_dim& dim, index_t w, const region<T>& y) {
    const block mine = dim.of(dim.me());
    const index_t n = y.extent[dim.d];
    const index_t before = w - mine.offset, behind = mine.offset + mine.length + w - dim.extent();
    if (before > 0) zero_region(y.part(dim.d, 0, before < n ? before : n));
    if (behind > 0)
      zero_region(y.part(dim.d, behind < n ? n - behind : 0, behind < n ? behind : n));
  }
};

template <class T> struct halo_back_op;

/// Elements T: the operand, and halos around it.
template <class T> struct halo_exchange_op {
  static constexpr bool takes_complex = true;
  halo_stages stages;

  void fill(results y, operands x) const {
    const auto all = stored_region<T>(y[0]);
    move_region<false, T>(stored_region<const T>(x[0]), stages.interior(all));
    stages.fill(*x[0].grid, placement_of(x[0]), x[0].layout(), all);
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
    auto all = stored_region<T>(x[0]);
    all.data = static_cast<T*>(sums.data());
    stages.fold(*x[0].grid, placement_of(x[0]), y[0].layout(), all);
    move_region<false, T>(stages.interior(all), stored_region<T>(y[0]));
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

template <index_t W, class... D> struct halo_exchange_rule : keeps_dims {
  using named = list<D...>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return halo_rule_of(x[0], dims_in<named>, W);
  }
};

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
  using rule = detail::halo_exchange_rule<W, D...>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "halo_exchange: the tensor lacks the dim; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "halo_exchange: the blocks carry a halo along this dim already; exchange once, as "
                "wide as needed");
  if constexpr (!fits || !ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::halo_stages stages{ends};
    (stages.add(detail::index_of<D, typename spec_of<X>::dims>, W), ...);
    return detail::apply_rule<rule, value_of<X>>(detail::halo_exchange_op<value_of<X>>{stages}, x);
  }
}

}  // namespace dimesh
