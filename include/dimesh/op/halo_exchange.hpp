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

#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/parts/along.hpp"

namespace dimesh {

namespace detail {

/// Halos along dim D alone.
template <int D, index_t Before, index_t After> struct with_halo {
  static constexpr table of(table t) {
    t.halo[D] = {Before, After};
    return t;
  }
};

/// The exchange of halos along some dims, one after the other, in an array that has them all.
struct halo_stages {
  boundary ends = boundary::zero;
  int count = 0;
  signed char dims[max_dims]{};  // small: the operation is copied with them
  halo_widths width[max_dims]{};

  constexpr halo_stages& add(int dim, const halo_widths& w) {
    dims[count] = static_cast<signed char>(dim);
    width[count++] = w;
    return *this;
  }

  /// An array (with halos along all of D...) as stage i sees it: those of later dims are not there
  /// yet.
  array_box at_stage(array_box all, int i) const {
    for (int later = i + 1; later < count; ++later) all = all.within(dims[later], width[later]);
    return all;
  }

  /// The stages in short, of the dims that a tensor has: what a plan depends on besides its layout.
  plan_hints hints(bool back) const {
    std::uint64_t order = 0;
    for (int i = 0; i < count; ++i) order = order << 4 | static_cast<unsigned>(dims[i]);
    return {static_cast<index_t>(order), count, static_cast<index_t>(ends) << 1 | index_t{back}};
  }
  /// The messages of all stages; y has the halos.
  constexpr void cost(tally& counts, const placement& where, const table& t, const tensor_core& y,
                      bool back) const {
    for (int i = 0; i < count; ++i) {
      index_t across = y.facts->element;
      for (int d = 0; d < y.rank(); ++d) {
        index_t n = y.local(d);
        for (int later = i + 1; later < count; ++later)
          n -= dims[later] == d ? width[later].both() : 0;
        across *= d == dims[i] ? 1 : n;
      }
      count_windows(counts, cut_dim(where, t, dims[i], ends), {0, width[i]}, across, back);
    }
  }
};

/// The messages of each stage, for tensors that have the halos, and all copies.
struct halo_plan : move_plan {
  struct one_stage : window_moves {
    // Do others want the first elements of the block, or the last ones, or a far end of the dim?
    bool gives_low = false, gives_high = false, gives_itself = false;  // to its own halos
    using window_moves::window_moves;
  };
  halo_stages stages;
  std::vector<one_stage> at;
  moved_box inside;  // a tensor without the halos, to its place in the array; back: from there

  halo_plan(const tensor_core& y, const tensor_core&, const plan_hints& with);
  static const halo_plan& of(const tensor_core& y, const halo_stages& s, bool back);

  /// The first stage that waits for other ranks; `stages.count` where none does.
  int first_that_waits() const;
  /// Elements of an array become what a stage that goes through buffers has sent of them.
  template <class T> void restore_sent(int i, const T* sent, T* all) const {
    for (const moved_box& b : moves(i).out) b.move_back(sent, all);
  }
  /// Fills the halos of an array that is stored like the tensor, whose interior is there.
  template <class T> void fill(const storage& all) const {
    for (const one_stage& s : at) {
      zero_beyond(s, static_cast<T*>(all.data()));
      move_windows<false, T>(s, all, all, "halo_exchange");
    }
  }
  /// Adds what the halos of an array hold to the elements that they are copies of.
  template <class T> void fold(const storage& all) const {
    for (std::size_t i = at.size(); i-- > 0;)
      move_windows<true, T>(at[i], all, all, "halo_exchange");
  }
  /// Takes tags for all stages and begins the first one: the others follow as messages arrive.
  template <class T> void start(const storage& all, flight& f) const {
    f.keep(*this);
    for (int i = 0; i < stages.count; ++i)
      f.tags[i] = window_tag(moves(i), "halo_exchange", collective::wire_of<T>, f, i);
    f.land = [](flight& g, tensor_core& y) {
      const auto& p = static_cast<const halo_plan&>(*g.plan);
      unpack_windows<false>(p.moves(g.stage), static_cast<const T*>(g.in.data()), y.data<T>());
      ++g.stage;
      return p.go_on<T>(y.memory, g);
    };
    f.landed = go_on<T>(all, f);
  }

 private:
  const one_stage& moves(int i) const { return at[static_cast<std::size_t>(i)]; }
  /// Stages that wait for nobody are made at once. True: that was the last.
  template <class T> bool go_on(const storage& all, flight& f) const {
    const running call(watcher, "halo_exchange");  // also where another one's end starts it
    const in_part begins(watcher, event_part::start);
    for (; f.stage < stages.count; ++f.stage) {
      zero_beyond(moves(f.stage), static_cast<T*>(all.data()));
      start_windows<T>(moves(f.stage), all, all, "halo_exchange", f.tags[f.stage], f);
      if (moves(f.stage).over != nullptr) return false;
    }
    return true;
  }
  static halo_stages stages_of_hints(const tensor_core& y, const plan_hints& with);
  static moved_box inside_of(const array_box& block, bool back);
  void add(const tensor_core& y, int i, bool back);
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline const halo_plan& halo_plan::of(const tensor_core& y, const halo_stages& s,
                                                     bool back) {
  return plan_of<halo_plan>(y, y, s.hints(back));
}
DIMESH_OUTLINE inline halo_stages halo_plan::stages_of_hints(const tensor_core& y,
                                                             const plan_hints& with) {
  halo_stages s{static_cast<boundary>(with[2] >> 1)};
  for (index_t i = 0; i < with[1]; ++i) {
    const auto d = static_cast<int>(with[0] >> 4 * (with[1] - 1 - i) & 15);
    s.add(d, y.layout().halo[d]);
  }
  return s;
}
DIMESH_OUTLINE inline moved_box halo_plan::inside_of(const array_box& block, bool back) {
  return back ? moved_box(block, block.dense()) : moved_box(block.dense(), block);
}
DIMESH_OUTLINE inline halo_plan::halo_plan(const tensor_core& y, const tensor_core&,
                                           const plan_hints& with)
    : stages(stages_of_hints(y, with)),
      inside(inside_of(stages.at_stage(stored_array(y), -1), (with[2] & 1) != 0)) {
  for (int i = 0; i < stages.count; ++i) add(y, i, (with[2] & 1) != 0);
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline int halo_plan::first_that_waits() const {
  int i = 0;
  while (i < stages.count && moves(i).over == nullptr) ++i;
  return i;
}
DIMESH_OUTLINE inline void halo_plan::add(const tensor_core& y, int i, bool back) {
  const int d = stages.dims[i];
  const halo_widths w = stages.width[i];
  const cut_dim dim(placement_of(y), y.layout(), d, stages.ends);
  const block mine = dim.of(dim.me());
  const array_box all = stages.at_stage(stored_array(y), i);
  one_stage& s = at.emplace_back(*y.grid, dim, window{0, w}, all.within(d, w), all, back);
  std::erase_if(s.kept, [](const moved_box& b) { return b.from == b.to; });  // where they are
  for (index_t r = 0; r < dim.ranks(); ++r)
    dim.for_each_piece(mine, dim.of(r), {0, w}, [&](index_t own, index_t place, index_t count) {
      if (r == dim.me() && place == own + w.before) return;
      s.gives_itself = s.gives_itself || r == dim.me();
      s.gives_low = s.gives_low || own < w.after;  // what lies behind the block before this one
      s.gives_high = s.gives_high || own + count > mine.length - w.before;
    });
}
#endif

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
