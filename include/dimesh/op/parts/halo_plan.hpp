// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who sends which edges of blocks to whom, and what is copied? Along several dims one after the
// other: the later ones send the halos of those before them, too.
//
//   halo_plan::of(y, stages, false).fill<float>(y.memory)   -> the halos of y are there
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/op/parts/along.hpp"

namespace dimesh::detail {

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
  /// The one stage that has messages, all of them in place; -1 where there is none, or others.
  int only_stage() const {
    const int i = first_that_waits();
    for (int later = i + 1; later < stages.count; ++later)
      if (moves(later).over != nullptr) return -1;
    return i < stages.count && moves(i).is_in_place() ? i : -1;
  }
  /// What no other rank has part in, of stages [begin, end).
  template <class T> void fill_locally(int begin, int end, T* all) const {
    for (int i = begin; i < end; ++i) {
      zero_beyond(moves(i), all);
      for (const moved_box& b : moves(i).kept) b.move<false>(all, all);
    }
  }
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

}  // namespace dimesh::detail
