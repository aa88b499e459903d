// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who sends what to whom, where a tensor goes from one mesh to another over the same ranks? Blocks
// of both layouts are known to every rank. What a rank needs and does not hold is one box for each
// other block of the old layout; of the ranks that hold copies of that block, its receivers ask one
// after another in turn. So no rank receives what it holds, and copies share the load. What lives
// at one place of an axis is held there, and wanted there, alone.
//
//   const across two(placement_of(x), x.layout(), placement_of(y), y.layout());
//   two.each_sent(0, [](index_t to, const box& b) { ... })   // what rank 0 sends
//   across_plan::of(x, y, false)     // worked out once; moved by op/parts/move_across.hpp
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/core/plans.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/layout/box.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// A tensor under two tables on two meshes. Ranks are those of the first mesh, row-major.
struct across {
  placement old_place, new_place;
  table from, to;
  const int* rank_there = nullptr;  // of each rank on the second mesh; null: the same
  index_t ranks = 1;
  unsigned cutting = 0, copying = 0;  // axes of the first mesh that make different blocks, or none
  index_t copies = 1;  // ranks that hold the same block

  constexpr across(const placement& x, const table& f, const placement& y, const table& t,
                   const int* there = nullptr)
      : old_place(x), new_place(y), from(f), to(t), rank_there(there) {
    ranks = group_size(all(from), x.sizes);
    copying = from.mask(use::replicated) | from.mask(use::partial);
    cutting = talking(from.mask(use::split), x.sizes);
    copies = group_size(copying, x.sizes);
  }
  static constexpr unsigned all(const table& t) { return (1u << t.axes) - 1; }

  constexpr box had(index_t r) const { return box_of(old_place, from, r); }
  constexpr box wanted(index_t r) const {
    return box_of(new_place, to, rank_there != nullptr ? rank_there[r] : r);
  }
  /// Which of the blocks rank r has, if any: -1 where it is not at the tensor's place; and which of
  /// its copies.
  constexpr index_t block_of(index_t r) const {
    const peer at(r, all(from), old_place.sizes, nullptr);
    return from.away_from(at.coords) != 0 ? -1 : digits(at, cutting);
  }
  constexpr index_t copy_of(index_t r) const {
    return digits(peer(r, all(from), old_place.sizes, nullptr), copying);
  }
  constexpr index_t blocks() const { return group_size(cutting, old_place.sizes); }
  constexpr index_t rank_with(index_t block, index_t copy) const {
    index_t rank = 0, step = 1;
    for (int a = from.axes - 1; a >= 0; --a) {
      const index_t n = old_place.sizes[a];
      if (from.axis[a].what == use::placed) {
        rank += from.axis[a].at * step;
      } else {
        index_t& digit = cutting >> a & 1u ? block : copy;
        rank += digit % n * step;
        digit /= n;
      }
      step *= n;
    }
    return rank;
  }

  /// Calls f(receiver, box) for all that rank `me` sends, f(sender, box) for all it receives.
  template <class F> constexpr void each_sent(index_t me, const F& f) const {
    const box mine = had(me);
    const index_t block = block_of(me), copy = copy_of(me);
    index_t turn = 0;
    for (index_t r = 0; r < ranks; ++r) {
      if (block_of(r) == block) continue;
      const box part = intersection(mine, wanted(r));
      if (part.size() > 0 && turn++ % copies == copy) f(r, part);
    }
  }
  template <class F> constexpr void each_received(index_t me, const F& f) const {
    const box mine = wanted(me);
    for (index_t block = 0; block < blocks(); ++block) {
      if (block == block_of(me)) continue;
      const box whole = had(rank_with(block, 0)), part = intersection(whole, mine);
      if (part.size() > 0) f(rank_with(block, turn_of(me, block, whole) % copies), part);
    }
  }
  /// Does no rank lack anything? Then there is nothing to send.
  constexpr bool is_local() const { return all_within(false); }
  /// And does none hold anything that the new layout does not leave with it?
  constexpr bool is_local_back() const { return all_within(true); }
  /// As many elements as no block of any rank exceeds, nor what it packs: a part of its block for
  /// each that wants a copy.
  constexpr index_t most() const {
    const index_t wanting = ranks / group_size(to.mask(use::split), new_place.sizes);
    index_t n = 0;
    for (index_t r = 0; r < ranks; ++r) {
      const index_t a = had(r).size() * wanting, b = wanted(r).size();
      n = n > a ? n : a;
      n = n > b ? n : b;
    }
    return n;
  }

 private:
  static constexpr box box_of(const placement& p, const table& t, index_t r) {
    return box_at(t, p.rank, p.extent, p.sizes, peer(r, all(t), p.sizes, nullptr).coords, p.cuts);
  }
  constexpr index_t digits(const peer& at, unsigned axes) const {
    index_t n = 0;
    for (int a = 0; a < from.axes; ++a)
      if (axes >> a & 1u) n = n * old_place.sizes[a] + at.coords[a];
    return n;
  }
  /// How many ranks before `me` ask for a part of a block.
  constexpr index_t turn_of(index_t me, index_t block, const box& whole) const {
    index_t turn = 0;
    for (index_t r = 0; copies > 1 && r < me; ++r)
      turn += block_of(r) != block && intersection(whole, wanted(r)).size() > 0;
    return turn;
  }
  constexpr bool all_within(bool back) const {
    for (index_t r = 0; r < ranks; ++r) {
      const box a = had(r), b = wanted(r);
      if (intersection(a, b).size() != (back ? a : b).size()) return false;
    }
    return true;
  }
};

/// Throws where a grid is gone.
void require_both(const grid_state& a, const grid_state& b);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void require_both(const grid_state& a, const grid_state& b) {
  if (!a.alive() || !b.alive())
    throw error(
        "relayout: one of the two grids is gone; grids must outlive what moves between them, and "
        "its way back");
}
#endif
/// The rank in grid b of each rank of grid a; null where all are the same. Worked out at the first
/// use. Throws dimesh::error, on every rank, where the grids are not over the same ranks.
const int* ranks_between(const grid_state& a, const grid_state& b,
                         std::string_view call = "relayout");
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline const int* ranks_between(const grid_state& a, const grid_state& b,
                                               std::string_view call) {
  static std::mutex lock;
  static std::map<std::pair<const grid_state*, const grid_state*>, std::vector<int>> known;
  require_both(a, b);
  const std::lock_guard here(lock);
  const auto key = std::pair(&a, &b);
  const auto at = known.find(key);
  if (at != known.end()) return at->second.empty() ? nullptr : at->second.data();
  const communicator &ca = a.everyone(), &cb = b.everyone();
  int how = MPI_UNEQUAL;
  check(MPI_Comm_compare(ca.handle(), cb.handle(), &how), "relayout");
  if (how == MPI_UNEQUAL)
    (words() << call << ": the grids of mesh '" << a.mesh_name() << "' (" << ca.size()
             << " ranks) and mesh '" << b.mesh_name() << "' (" << cb.size()
             << " ranks) are not over the same ranks; make both over one communicator")
        .raise();
  std::vector<int> there;
  if (how == MPI_SIMILAR) {
    std::vector<int> mine(static_cast<std::size_t>(ca.size()));
    for (std::size_t r = 0; r < mine.size(); ++r) mine[r] = static_cast<int>(r);
    there.resize(mine.size());
    MPI_Group ga = MPI_GROUP_NULL, gb = MPI_GROUP_NULL;
    check(MPI_Comm_group(ca.handle(), &ga), "relayout");
    check(MPI_Comm_group(cb.handle(), &gb), "relayout");
    check(MPI_Group_translate_ranks(ga, ca.size(), mine.data(), gb, there.data()), "relayout");
    MPI_Group_free(&ga);
    MPI_Group_free(&gb);
  }
  const auto& made = known.emplace(key, std::move(there)).first->second;
  return made.empty() ? nullptr : made.data();
}
#endif

/// The parts of one of this rank's two blocks that others have for it, or want of it, and where
/// they lie: in the block itself if every part is one run of its elements, else in a buffer.
struct across_side {
  box whole;
  std::vector<int> peers;
  std::vector<box> part;
  std::vector<collective::run> runs;  // by rank
  std::vector<int> units, first;  // the same as MPI counts, where it does
  index_t packed = 0;  // elements of the buffer, 0 if there is none
  index_t elements = 0;  // that go to others, or come from them

  void add(index_t r, const box& b) {
    peers.push_back(static_cast<int>(r));
    part.push_back(b);
  }
  void lay_out(index_t ranks, bool may_stay) {
    for (const box& b : part) may_stay = may_stay && is_run(whole, b);
    runs.assign(static_cast<std::size_t>(ranks), {});
    for (std::size_t i = 0; i < part.size(); ++i) {
      const index_t count = part[i].size();
      runs[static_cast<std::size_t>(peers[i])] = {may_stay ? offset_in(whole, part[i]) : packed,
                                                  count};
      if (!may_stay) packed += count;
      elements += count;
    }
  }
  void count(int of_one) {
    for (const collective::run& r : runs) {
      units.push_back(static_cast<int>(r.count * of_one));
      first.push_back(static_cast<int>(r.at * of_one));
    }
  }
};

/// x and y are of the same dims, on two meshes.
constexpr across across_between(const tensor_core& x, const tensor_core& y) {
  return across(placement_of(x), x.layout(), placement_of(y), y.layout(),
                x.is_shape ? nullptr : ranks_between(*x.grid, *y.grid));
}

/// Does every rank give every other equally much, from parts that lie in the order of ranks in its
/// block, to such parts? How much; else 0. Asked where ranks are few: a step for each pair.
inline index_t dense_parts(const across& two) {
  if (two.ranks > 64 || two.rank_there != nullptr) return 0;
  const index_t n = two.had(0).size() / two.ranks;
  for (index_t s = 0; s < two.ranks; ++s)
    for (index_t r = 0; r < two.ranks; ++r) {
      const box from = two.had(s), to = two.wanted(r), part = intersection(from, to);
      if (part.size() != n || n == 0 || !is_run(from, part) || !is_run(to, part) ||
          offset_in(from, part) != r * n || offset_in(to, part) != s * n)
        return 0;
    }
  return n;
}

/// All of that for this rank. Back: parts of the new block go to the old one, to be added.
struct across_plan : move_plan {
  const communicator* over = nullptr;  // on the first grid; null: there is nothing to move
  collective::wire wire;
  index_t most = 0;
  index_t dense = 0;  // of every part, the own one too, where they are equal and lie in order
  across_side had, wanted;
  box kept;
  strides had_stride{had.whole}, wanted_stride{wanted.whole};
  index_t kept_had = 0, kept_wanted = 0;  // where it lies in either block
  bool kept_is_run = false;

  across_plan(const tensor_core& x, const tensor_core& y, const plan_hints& with);
  /// Of x on the first grid and y on the second. Throws where one of them is gone.
  static const across_plan& of(const tensor_core& x, const tensor_core& y, bool back);
  bool fits() const { return most <= wire.most_per_call(); }
};
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline across_plan::across_plan(const tensor_core& x, const tensor_core& y,
                                               const plan_hints& with) {
  const bool back = with[0] != 0;
  const across two = across_between(x, y);
  const index_t me = x.grid->everyone().rank();
  wire = {x.facts->kind, x.facts->element};
  most = two.most();
  had.whole = two.had(me);
  wanted.whole = two.wanted(me);
  kept = intersection(had.whole, wanted.whole);
  had_stride = strides(had.whole);
  wanted_stride = strides(wanted.whole);
  if (kept.size() > 0) {
    kept_had = offset_in(had.whole, kept);
    kept_wanted = offset_in(wanted.whole, kept);
    kept_is_run = is_run(had.whole, kept) && is_run(wanted.whole, kept);
  }
  if (two.is_local()) return;
  over = &x.grid->along(talking(across::all(x.layout()), x.sizes()));
  two.each_sent(me, [this](index_t r, const box& b) { had.add(r, b); });
  two.each_received(me, [this](index_t r, const box& b) { wanted.add(r, b); });
  had.lay_out(two.ranks, !back);
  wanted.lay_out(two.ranks, true);
  if (!fits()) return;
  had.count(wire.units());
  wanted.count(wire.units());
  if (!back) dense = dense_parts(two);
}
DIMESH_OUTLINE inline const across_plan& across_plan::of(const tensor_core& x, const tensor_core& y,
                                                         bool back) {
  require_both(*x.grid, *y.grid);
  const auto there = static_cast<index_t>(reinterpret_cast<std::intptr_t>(y.grid));
  return plan_of<across_plan>(x, y, {back, there});
}
#endif

}  // namespace dimesh::detail
