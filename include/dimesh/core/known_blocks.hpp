// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the blocks of a result lie, how many bytes has it, and who moves what to whom? That
// follows from the two layouts, the extents and the rank's place on the grid: a program that goes
// on as before finds what it worked out then. Kept by each thread, as much as fits.
//
//   if (!recall_blocks(y, x)) { ...; note_blocks(y, x); }
//   known_blocks::of(y.facts, x.facts).are_of(y, x)     -> the same call, once more
#pragma once

#include <array>
#include <cstdint>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

struct move_plan;
/// What a plan depends on besides layouts and extents: parameters of the operation.
using plan_hints = std::array<index_t, 3>;

/// The plan that a move of such tensors asked for last (plans.hpp).
struct known_plan {
  const void* kind = nullptr;
  plan_hints with{};
  unsigned turned = 0;  // which of the two tensors it was asked of
  const move_plan* plan = nullptr;

  bool is_of(const void* k, const plan_hints& w, unsigned t) const {
    return kind == k && turned == t && with[0] == w[0] && with[1] == w[1] && with[2] == w[2];
  }
};

struct known_blocks {
  const tensor_facts *to = nullptr, *from = nullptr;
  const grid_state *grid = nullptr, *far = nullptr;  // of the operand, and of the result
  index_t extent[dim_runs::in_place] = {};  // of the operand
  index_t bytes = 0;  // of the result
  unsigned away = 0;
  bool is_plain = false;  // the rank has one of them, and no addends become addends
  bool stays = false;  // the rank's block is the same in both
  known_plan latest;
  dim_runs::few_runs result;

  static constexpr int bits = 6;
  using table = std::array<known_blocks, 1 << bits>;
  static table& all() {
    static constinit thread_local table it{};
    return it;
  }
  /// One of so many places, by both types.
  static known_blocks& of(const tensor_facts* to, const tensor_facts* from) {
    const std::uint64_t both = reinterpret_cast<std::uintptr_t>(to) +
                               3 * std::uint64_t{reinterpret_cast<std::uintptr_t>(from)};
    return all()[static_cast<std::size_t>(both * 0x9e3779b97f4a7c15ull >> (64 - bits))];
  }
  void note(const tensor_core& y, const tensor_core& x);
  bool are_of(const tensor_core& y, const tensor_core& x) const {
    return !y.cuts && is_from(x, y.facts, y.grid);
  }
  bool is_from(const tensor_core& x, const tensor_facts* y, const grid_state* there) const {
    if (to != y || from != x.facts || grid != x.grid || far != there || x.cuts) return false;
    const index_t* const n = x.runs.extents();
    for (int d = 0; d < from->rank; ++d)
      if (extent[d] != n[d]) return false;
    return true;
  }
};

/// An operation whose call goes on as before, while it runs: whose plan is known, too.
struct known_call {
  const tensor_core *y = nullptr, *x = nullptr;
  known_blocks* known = nullptr;

  static known_call& now() {
    static constinit thread_local known_call it{};
    return it;
  }
  bool has(const tensor_core& a, const tensor_core& b) const {
    return known != nullptr && (&a == x || &a == y) && (&b == x || &b == y);
  }
  unsigned turned(const tensor_core& first, const tensor_core& second) const {
    return (&first == y ? 1u : 0u) | (&second == y ? 2u : 0u);
  }
};
class [[nodiscard]] going_on {
 public:
  going_on(const tensor_core& y, const tensor_core& x, known_blocks* k)
      : before_(known_call::now()) {
    known_call::now() = {&y, &x, k};
  }
  going_on(const going_on&) = delete;
  going_on& operator=(const going_on&) = delete;
  ~going_on() { known_call::now() = before_; }

 private:
  known_call before_;
};

/// May they be kept? Not where cuts or more dims than most have say more.
inline bool keeps_blocks(const tensor_core& y, const tensor_core& x) {
  return x.grid != nullptr && y.grid != nullptr && !x.is_shape && !x.cuts && !y.cuts &&
         y.runs.are_few() && x.runs.are_few();
}

/// Extents and blocks of y, a result of x alone, if they are known. Its grid is there.
bool recall_blocks(tensor_core& y, const tensor_core& x);
void note_blocks(const tensor_core& y, const tensor_core& x);
/// The plans that it knows of are no more.
void forget_plans();
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool recall_blocks(tensor_core& y, const tensor_core& x) {
  const known_blocks& known = known_blocks::of(y.facts, x.facts);
  if (!known.are_of(y, x)) return false;
  y.runs.become(known.result);
  y.away = known.away;
  return true;
}
DIMESH_OUTLINE inline void known_blocks::note(const tensor_core& y, const tensor_core& x) {
  to = y.facts, from = x.facts, grid = x.grid, far = y.grid;
  for (int d = 0; d < x.rank(); ++d) extent[d] = x.extent(d);
  bytes = y.away == 0 ? counted_bytes(*y.facts, y.runs.own()) : 0;
  away = y.away;
  // Addends of what was none are no value that counts once.
  is_plain = (x.away & y.away) == 0 && (y.facts->partial == 0 || x.facts->partial == 0);
  stays = x.away == 0 && y.away == 0 && x.rank() == y.rank();
  for (int d = 0; d < y.rank() && stays; ++d) stays = x.own(d) == y.own(d);
  latest = {};
  result = y.runs.few();
}
DIMESH_OUTLINE inline void note_blocks(const tensor_core& y, const tensor_core& x) {
  if (keeps_blocks(y, x)) known_blocks::of(y.facts, x.facts).note(y, x);
}
DIMESH_OUTLINE inline void forget_plans() {
  for (known_blocks& known : known_blocks::all()) known.latest = {};
}
#endif

}  // namespace dimesh::detail
