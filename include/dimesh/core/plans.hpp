// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who sends what to whom? A plan says it: peers, boxes, counts, all that a move needs besides its
// data. It is a value, worked out at the first use and kept by each thread: a steady step of a
// program works out none.
//
//   struct swap_plan : move_plan { swap_plan(const tensor_core&, const tensor_core&, ...); };
//   plan_of<swap_plan>(x, y)   -> the plan for these layouts, extents and this grid
//   plans_made()               -> how often one had to be worked out
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "dimesh/core/known_blocks.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

/// What plans have in common: whoever uses one for longer than a call keeps it.
struct move_plan : std::enable_shared_from_this<move_plan> {};

/// What tells plans apart. Facts say element size, dims, tables; there is one of them for a type.
/// The numbers are extents of the first tensor, and what else an operation adds.
struct plan_key {
  const void* kind = nullptr;
  const grid_state* grid = nullptr;
  const grid_state* far = nullptr;  // that of the second tensor
  const tensor_facts *from = nullptr, *to = nullptr;
  plan_hints with{};
  int numbers = 0;
  index_t number[max_dims] = {};

  plan_key() = default;
  plan_key(const void* k, const tensor_core& x, const tensor_core& y, const plan_hints& w)
      : kind(k), grid(x.grid), far(y.grid), from(x.facts), to(y.facts), with(w), numbers(x.rank()) {
    for (int d = 0; d < numbers; ++d) number[d] = x.extent(d);
  }
  /// False: there is no room for so many.
  bool add(index_t n) {
    if (numbers == max_dims) return false;
    number[numbers++] = n;
    return true;
  }
  bool operator==(const plan_key& k) const {
    if (kind != k.kind || grid != k.grid || from != k.from || to != k.to || with != k.with ||
        numbers != k.numbers)
      return false;
    for (int d = 0; d < numbers; ++d)
      if (number[d] != k.number[d]) return false;
    return true;
  }
  /// Is it the one that the constructor makes of these?
  bool is_of(const void* k, const tensor_core& x, const tensor_core& y, const plan_hints& w) const {
    if (kind != k || from != x.facts || to != y.facts || grid != x.grid || with[0] != w[0] ||
        with[1] != w[1] || with[2] != w[2] || numbers != x.rank())
      return false;
    const index_t* const n = x.runs.extents();
    for (int d = 0; d < numbers; ++d)
      if (number[d] != n[d]) return false;
    return true;
  }
  std::size_t hash() const {
    // Each part by a factor of its own, all at once: a chain of them takes three times as long.
    std::uint64_t h = 0, factor = 0x9e3779b97f4a7c15ull;
    const auto mix = [&](std::uint64_t v) { h += v * factor, factor += 0xd1342543de82ef96ull; };
    const auto at = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    mix(at(kind)), mix(at(grid)), mix(at(from)), mix(at(to));
    for (const index_t v : with) mix(static_cast<std::uint64_t>(v));
    for (int d = 0; d < numbers; ++d) mix(static_cast<std::uint64_t>(number[d]));
    return static_cast<std::size_t>(h ^ h >> 32);
  }
};

struct kept_plan {
  plan_key key;
  std::shared_ptr<const move_plan> plan;
};
/// The last one that was asked for: moves that repeat ask for it again.
inline constinit thread_local const kept_plan* latest_plan = nullptr;

/// The plans of a thread, in a table that grows. Those of grids that have ended go when it does.
class plan_cache {
 public:
  static plan_cache& here();
  plan_cache() = default;
  plan_cache(const plan_cache&) = delete;
  plan_cache& operator=(const plan_cache&) = delete;
  ~plan_cache() {
    latest_plan = nullptr;
    forget_plans();
  }
  /// Where the plan for a key stands, or is to stand.
  std::shared_ptr<const move_plan>& at(const plan_key& key);

 private:
  using entry = kept_plan;
  std::unique_ptr<entry>& find(const plan_key& key);
  void grow();
  std::vector<std::unique_ptr<entry>> slots_;  // a power of two of them, at most half are taken
  std::size_t used_ = 0;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline plan_cache& plan_cache::here() {
  thread_local plan_cache all;
  return all;
}
DIMESH_OUTLINE inline std::shared_ptr<const move_plan>& plan_cache::at(const plan_key& key) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  std::unique_ptr<entry>& e = find(key);
  if (!e) {
    e = std::make_unique<entry>(entry{key, nullptr});
    ++used_;
  }
  latest_plan = e.get();
  return e->plan;
}
inline std::unique_ptr<plan_cache::entry>& plan_cache::find(const plan_key& key) {
  std::size_t i = key.hash() & (slots_.size() - 1);
  while (slots_[i] && !(slots_[i]->key == key)) i = (i + 1) & (slots_.size() - 1);
  return slots_[i];
}
DIMESH_OUTLINE inline void plan_cache::grow() {
  std::vector<std::unique_ptr<entry>> old(slots_.empty() ? 64 : 2 * slots_.size());
  old.swap(slots_);
  used_ = 0;
  latest_plan = nullptr;
  forget_plans();
  for (auto& e : old)
    if (e && e->key.grid->alive() && (e->key.far == nullptr || e->key.far->alive())) {
      find(e->key) = std::move(e);
      ++used_;
    }
}
#endif

inline std::atomic<index_t> plans_worked_out{0};
/// How often a plan had to be worked out, on all threads.
inline index_t plans_made() { return plans_worked_out.load(std::memory_order_relaxed); }

template <class Plan> inline constexpr char kind_of_plan = 0;

template <class Plan>
[[gnu::noinline]] void make_plan(std::shared_ptr<const move_plan>& at, const tensor_core& x,
                                 const tensor_core& y, const plan_hints& with) {
  at = std::make_shared<const Plan>(x, y, with);
  plans_worked_out.fetch_add(1, std::memory_order_relaxed);
}
/// Are all ragged dims cut alike? Lists that are shared are not looked at.
inline bool same_cuts(const cut_list& a, const cut_list& b) {
  if (a.first() == b.first()) return true;
  const cut_record *p = a.first(), *q = b.first();
  for (; p != nullptr && q != nullptr; p = p->next, q = q->next)
    if (!same_dim(p->dim, q->dim) || p->begin != q->begin) return false;
  return p == q;
}
/// Plans for blocks of any lengths. Cuts may be others at every step, so the last few are kept, and
/// the one that was made first goes: a program whose cuts stay works out none.
class ragged_plans {
 public:
  static ragged_plans& here();
  std::shared_ptr<const move_plan>& at(const plan_key& key, const tensor_core& x,
                                       const tensor_core& y);

 private:
  static constexpr std::size_t most = 32;
  struct entry {
    plan_key key;
    cut_list from, to;
    std::shared_ptr<const move_plan> plan;
  };
  std::vector<entry> kept_;
  std::size_t next_ = 0;
};
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline ragged_plans& ragged_plans::here() {
  thread_local ragged_plans all;
  return all;
}
DIMESH_OUTLINE inline std::shared_ptr<const move_plan>& ragged_plans::at(const plan_key& key,
                                                                         const tensor_core& x,
                                                                         const tensor_core& y) {
  for (entry& e : kept_)
    if (e.key == key && same_cuts(e.from, x.cuts) && same_cuts(e.to, y.cuts)) return e.plan;
  if (kept_.size() < most) kept_.emplace_back();
  entry& oldest = kept_[next_];
  next_ = (next_ + 1) % most;
  oldest = {key, x.cuts, y.cuts, nullptr};
  return oldest.plan;
}
#endif
/// Where the plan for a key of x and y stands, or is to stand.
inline std::shared_ptr<const move_plan>& place_of_plan(const plan_key& key, const tensor_core& x,
                                                       const tensor_core& y) {
  const bool ragged = (x.facts->ragged | y.facts->ragged) != 0;
  return ragged ? ragged_plans::here().at(key, x, y) : plan_cache::here().at(key);
}
template <class Plan>
[[gnu::noinline]] const Plan& found_plan(const tensor_core& x, const tensor_core& y,
                                         const plan_hints& with) {
  const plan_key key(&kind_of_plan<Plan>, x, y, with);
  std::shared_ptr<const move_plan>& plan = place_of_plan(key, x, y);
  if (!plan) [[unlikely]]
    make_plan<Plan>(plan, x, y, with);
  return static_cast<const Plan&>(*plan);
}
template <class Plan>
[[gnu::noinline]] const Plan& looked_up_plan(const tensor_core& x, const tensor_core& y,
                                             const plan_hints& with) {
  const kept_plan* const latest = latest_plan;
  const bool same =
      latest != nullptr && latest->plan && latest->key.is_of(&kind_of_plan<Plan>, x, y, with);
  const Plan& plan = same ? static_cast<const Plan&>(*latest->plan) : found_plan<Plan>(x, y, with);
  // (A call within that one may have taken its place in the table.)
  if (const known_call& now = known_call::now(); now.has(x, y) && now.known->are_of(*now.y, *now.x))
    now.known->latest = {&kind_of_plan<Plan>, with, now.turned(x, y), &plan};
  return plan;
}
/// The plan of a move from x to y, tensors with the same dims on one grid. Of a call that goes on
/// as before it is at hand; the latest one is looked at next. (Neither is ever of ragged dims.)
template <class Plan>
const Plan& plan_of(const tensor_core& x, const tensor_core& y, const plan_hints& with = {}) {
  if (const known_call& now = known_call::now(); now.has(x, y)) {
    const known_plan& latest = now.known->latest;
    if (latest.is_of(&kind_of_plan<Plan>, with, now.turned(x, y))) [[likely]]
      return static_cast<const Plan&>(*latest.plan);
  }
  return looked_up_plan<Plan>(x, y, with);
}

}  // namespace dimesh::detail
