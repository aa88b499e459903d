// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/canonical.hpp"

#include <doctest/doctest.h>

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct hidden : dim<12> {};
struct label : dim<10> {};
struct odd : dim<7> {};
struct unit : dim<1> {};
struct none : dim<0> {};
struct length : dim<> {};
struct depth : dim<> {};

struct rows : axis<2> {};
struct cols : axis<3> {};
struct deep : axis<4> {};
struct wide : axis<> {};
struct solo : axis<1> {};
struct foreign : axis<2> {};

struct pod : mesh<rows, cols> {};
struct cube : mesh<rows, cols, deep> {};
struct open : mesh<wide, rows> {};
struct flat : mesh<> {};
struct tiny : mesh<solo, rows> {};

template <class A, class B> constexpr bool same = std::is_same_v<A, B>;
template <class L, class... D> constexpr bool legal = ok<layout_fault<L, D...>>;

// ---- only the rules that concern the dims, in mesh order ---------------------------------------
using program = layout<pod, split<hidden, cols>, split<batch, rows>>;
static_assert(
    same<canonical<program, batch, hidden>, layout<pod, split<batch, rows>, split<hidden, cols>>>);
static_assert(
    same<canonical<program, hidden, batch>, layout<pod, split<batch, rows>, split<hidden, cols>>>);
static_assert(same<canonical<program, batch>, layout<pod, split<batch, rows>>>);
static_assert(same<canonical<program, label, hidden>, layout<pod, split<hidden, cols>>>);
static_assert(same<canonical<program, label>, layout<pod>>);
static_assert(same<canonical<program>, layout<pod>>);
static_assert(same<canonical<layout<flat>, batch>, layout<flat>>);

// Rules for the same axis are harmless while no tensor has both dims.
using shared = layout<pod, split<batch, rows>, split<hidden, rows>>;
static_assert(legal<shared, batch, label> && legal<shared, hidden>);
static_assert(same<canonical<shared, hidden>, layout<pod, split<hidden, rows>>>);

// Idempotent, whatever the order of rules.
using scattered = layout<cube, partial<deep>, split<hidden, cols>, split<batch, rows>>;
using gathered = canonical<scattered, batch, hidden>;
static_assert(same<gathered, layout<cube, split<batch, rows>, split<hidden, cols>, partial<deep>>>);
static_assert(same<canonical<gathered, batch, hidden>, gathered>);
static_assert(same<canonical<layout<cube, split<batch, rows>, partial<deep>, split<hidden, cols>>,
                             batch, hidden>,
                   gathered>);

// ---- a split that gives way: only where no other rule uses the axis -----------------------------
using sequence = layout<pod, split_if_free<batch, rows>, split<hidden, rows>>;
static_assert(same<canonical<sequence, batch, label>, layout<pod, split<batch, rows>>>);
static_assert(same<canonical<sequence, batch, hidden>, layout<pod, split<hidden, rows>>>);
static_assert(same<canonical<layout<pod, split_if_free<batch, rows, cols>, partial<cols>>, batch>,
                   layout<pod, partial<cols>>>);
static_assert(same<layout_fault<layout<pod, split_if_free<batch, deep>>, label>,
                   axis_not_in_mesh<deep, pod>>);
static_assert(same<layout_fault<layout<pod, split_if_free<label, cols>>, label>,
                   extent_not_divisible<label, 10, cols, 3>>);

// ---- one dim over several axes: major first, at the place of its first axis in the mesh ---------
static_assert(same<canonical<layout<cube, split<hidden, cols, rows>>, hidden>,
                   layout<cube, split<hidden, cols, rows>>>);
static_assert(!same<canonical<layout<cube, split<hidden, cols, rows>>, hidden>,
                    canonical<layout<cube, split<hidden, rows, cols>>, hidden>>);
static_assert(same<canonical<layout<cube, partial<cols>, split<batch, deep, rows>>, batch>,
                   layout<cube, split<batch, deep, rows>, partial<cols>>>);
static_assert(same<layout_fault<layout<pod, split<batch>>, batch>, split_without_axis<batch>>);

// ---- partial: of every tensor, and of each kind -------------------------------------------------
using addends = layout<pod, partial<cols>, split<batch, rows>>;
static_assert(same<canonical<addends, label>, layout<pod, partial<cols>>>);
static_assert(same<canonical<addends>, layout<pod, partial<cols>>>);
static_assert(same<canonical<layout<pod, partial_min<cols>, partial_max<rows>>>,
                   layout<pod, partial_max<rows>, partial_min<cols>>>);

// ---- uneven: dropped where blocks come out even -------------------------------------------------
static_assert(same<canonical<layout<pod, split<uneven<batch>, rows>>, batch>,
                   layout<pod, split<batch, rows>>>);
static_assert(same<canonical<layout<pod, split<uneven<odd>, rows>>, odd>,
                   layout<pod, split<uneven<odd>, rows>>>);
static_assert(
    same<canonical<layout<pod, split<uneven<none>, rows>>, none>, layout<pod, split<none, rows>>>);
static_assert(same<canonical<layout<pod, split<uneven<unit>, cols>>, unit>,
                   layout<pod, split<uneven<unit>, cols>>>);
static_assert(same<layout_fault<layout<pod, split<uneven<odd>>>, odd>, split_without_axis<odd>>);
static_assert(same<canonical<layout<open, split<uneven<batch>, wide>>, batch>,
                   layout<open, split<uneven<batch>, wide>>>);
static_assert(same<canonical<layout<pod, split<uneven<length>, rows>>, length>,
                   layout<pod, split<uneven<length>, rows>>>);

// ---- halo ---------------------------------------------------------------------------------------
static_assert(same<canonical<layout<pod, split<halo<batch, 1>, rows>>, batch>,
                   layout<pod, split<halo<batch, 1>, rows>>>);
static_assert(same<canonical<layout<pod, split<halo<batch, 0>, rows>>, batch>,
                   layout<pod, split<batch, rows>>>);
static_assert(same<canonical<layout<pod, split<uneven<halo<odd, 2>>, rows>>, odd>,
                   canonical<layout<pod, split<halo<uneven<odd>, 2>, rows>>, odd>>);
static_assert(same<halo<batch, 2>, halo<batch, 2, 2>>);
static_assert(same<canonical<layout<pod, split<halo<batch, 0, 2>, rows>>, batch>,
                   layout<pod, split<halo<batch, 0, 2>, rows>>>);
static_assert(!same<canonical<layout<pod, split<halo<batch, 2, 0>, rows>>, batch>,
                    canonical<layout<pod, split<halo<batch, 0, 2>, rows>>, batch>>);
static_assert(same<canonical<layout<pod, split<halo<batch, 100>>>, batch>,
                   layout<pod, split<halo<batch, 100>>>>);  // not split, but with room around

// ---- spread: the first dim that comes out even --------------------------------------------------
using zero = layout<cube, spread<deep>>;
static_assert(same<canonical<zero, batch, hidden>, layout<cube, split<batch, deep>>>);
static_assert(same<canonical<zero, label, hidden>, layout<cube, split<hidden, deep>>>);
static_assert(same<canonical<zero, label, odd>, layout<cube>>);  // none: replicated
static_assert(same<canonical<zero>, layout<cube>>);
static_assert(same<canonical<zero, none>, layout<cube, split<none, deep>>>);
// After what is split already, however the rules are ordered ...
static_assert(same<canonical<layout<cube, spread<deep>, split<batch, rows>>, batch, hidden>,
                   layout<cube, split<batch, rows, deep>>>);  // 8 / 2 / 4
static_assert(same<canonical<layout<cube, spread<deep>, split<hidden, cols>>, hidden, batch>,
                   layout<cube, split<hidden, cols, deep>>>);  // 12 / 3 / 4
static_assert(
    same<canonical<layout<cube, spread<deep>, split<hidden, rows>>, hidden, batch>,
         layout<cube, split<hidden, rows>, split<batch, deep>>>);  // 12 / 2 / 4 does not come out
// ... and only where the axis is still free: ZeRO's parameters live on what the batch splits.
using sharded = layout<pod, split<batch, rows>, spread<rows>>;
static_assert(same<canonical<sharded, batch, hidden>, layout<pod, split<batch, rows>>>);
static_assert(same<canonical<sharded, hidden, label>, layout<pod, split<hidden, rows>>>);
static_assert(legal<sharded, batch, hidden>);
// Two spread axes may take one dim or two.
static_assert(same<canonical<layout<cube, spread<rows>, spread<deep>>, batch, hidden>,
                   layout<cube, split<batch, rows, deep>>>);
static_assert(same<canonical<layout<cube, spread<deep>, spread<rows>>, batch, hidden>,
                   layout<cube, split<batch, deep, rows>>>);
static_assert(same<canonical<layout<cube, spread<cols>, spread<rows>>, label, hidden>,
                   layout<cube, split<label, rows>, split<hidden, cols>>>);
// What only the run can tell comes after what is certain; the first of it is taken.
static_assert(same<canonical<zero, length, batch>, layout<cube, split<batch, deep>>>);
static_assert(same<canonical<zero, length, depth>, layout<cube, split<length, deep>>>);
static_assert(same<canonical<zero, label, length>, layout<cube, split<length, deep>>>);
static_assert(
    same<canonical<layout<open, spread<wide>>, label, batch>, layout<open, split<label, wide>>>);
// An uneven split that comes out even is an even one; what does not come out is no candidate.
static_assert(same<canonical<layout<cube, split<uneven<batch>, rows>, spread<deep>>, batch, hidden>,
                   layout<cube, split<batch, rows, deep>>>);
static_assert(same<canonical<layout<cube, split<uneven<odd>, rows>, spread<deep>>, odd, hidden>,
                   layout<cube, split<uneven<odd>, rows>, split<hidden, deep>>>);
static_assert(same<canonical<layout<open, split<odd, wide>, spread<rows>>, odd, length>,
                   layout<open, split<odd, wide>, split<length, rows>>>);  // 7 / 2 never comes out
static_assert(same<canonical<layout<open, split<batch, wide>, spread<rows>>, batch, odd>,
                   layout<open, split<batch, wide, rows>>>);
static_assert(same<canonical<layout<tiny, spread<solo>>, odd>, layout<tiny, split<odd, solo>>>);

// ---- what is wrong with a layout that cannot be -------------------------------------------------
static_assert(same<layout_fault<program, batch, hidden>, no_fault>);
static_assert(same<layout_fault<program, batch, batch>, dim_repeated<batch>>);
static_assert(same<layout_fault<program, batch, hidden, label, hidden>, dim_repeated<hidden>>);
static_assert(
    same<layout_fault<layout<pod, split<batch, foreign>>, batch>, axis_not_in_mesh<foreign, pod>>);
static_assert(same<layout_fault<layout<pod, split<batch, rows, foreign>>, label>,
                   axis_not_in_mesh<foreign, pod>>);
static_assert(same<layout_fault<layout<pod, partial<foreign>>>, axis_not_in_mesh<foreign, pod>>);
static_assert(
    same<layout_fault<layout<pod, partial_max<foreign>>>, axis_not_in_mesh<foreign, pod>>);
static_assert(
    same<layout_fault<layout<pod, partial_min<foreign>>>, axis_not_in_mesh<foreign, pod>>);
static_assert(same<layout_fault<layout<pod, split<batch, rows>, spread<foreign>>>,
                   axis_not_in_mesh<foreign, pod>>);
static_assert(same<layout_fault<shared, batch, hidden>, dims_share_mesh_axis<batch, hidden, rows>>);
static_assert(
    same<layout_fault<shared, hidden, label, batch>, dims_share_mesh_axis<batch, hidden, rows>>);
static_assert(
    same<layout_fault<layout<pod, split<batch, rows, rows>>, batch>, axis_used_twice<rows>>);
static_assert(same<layout_fault<layout<pod, split<batch, rows>, partial<rows>>, batch>,
                   axis_used_twice<rows>>);
static_assert(same<layout_fault<layout<pod, partial<rows>, split<batch, rows>>, batch>,
                   axis_used_twice<rows>>);
static_assert(legal<layout<pod, partial<rows>, split<batch, rows>>, label>);
static_assert(
    same<layout_fault<layout<pod, partial<rows>, partial_max<rows>>>, axis_used_twice<rows>>);
static_assert(
    same<layout_fault<layout<pod, spread<rows>, partial<rows>>, batch>, axis_used_twice<rows>>);
static_assert(
    same<layout_fault<layout<pod, spread<rows>, spread<rows>>, batch>, axis_used_twice<rows>>);
static_assert(same<layout_fault<layout<pod, split<batch, rows>, split<batch, cols>>, batch>,
                   dim_has_two_rules<batch>>);
static_assert(same<layout_fault<layout<pod, split<batch, rows>, split<uneven<batch>, cols>>, batch>,
                   dim_has_two_rules<batch>>);
static_assert(same<layout_fault<layout<pod, split<batch, rows>, split<batch, rows>>, batch>,
                   dim_has_two_rules<batch>>);
static_assert(
    same<layout_fault<layout<pod, split<odd, rows>>, odd>, extent_not_divisible<odd, 7, rows, 2>>);
static_assert(
    same<layout_fault<layout<cube, split<hidden, deep, cols>>, hidden>, no_fault>);  // 12 / (4 * 3)
static_assert(same<layout_fault<layout<cube, split<hidden, rows, deep>>, hidden>,
                   extent_not_divisible<hidden, 12, deep, 8>>);
static_assert(same<layout_fault<layout<pod, split<unit, cols>>, unit>,
                   extent_not_divisible<unit, 1, cols, 3>>);
static_assert(legal<layout<tiny, split<odd, solo>>, odd>);  // an axis of size 1 is legal everywhere
static_assert(legal<layout<pod, split<none, cols>>, none>);  // nothing comes out even
static_assert(legal<layout<open, split<odd, wide>>, odd>);  // the run will tell
static_assert(legal<layout<pod, split<length, rows>>, length>);
// A size known only at run time does not hide what the known ones say.
static_assert(same<layout_fault<layout<open, split<odd, rows, wide>>, odd>,
                   extent_not_divisible<odd, 7, rows, 2>>);
static_assert(same<layout_fault<layout<open, split<odd, wide, rows>>, odd>,
                   extent_not_divisible<odd, 7, rows, 2>>);

// A faulty layout is left as it stands.
static_assert(same<canonical<shared, batch, hidden>, shared>);

TEST_CASE("the first thing that is wrong is the one reported") {
  // Two faults at once: the repeated dim wins over the foreign axis, that over the shared one.
  using both = layout<pod, split<batch, foreign>, split<hidden, rows>, split<label, rows>>;
  CHECK(same<layout_fault<both, batch, batch>, dim_repeated<batch>>);
  CHECK(same<layout_fault<both, hidden, label>, axis_not_in_mesh<foreign, pod>>);
}

}  // namespace
