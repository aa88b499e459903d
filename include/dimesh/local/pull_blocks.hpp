// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the cotangents of several inputs formed over any loops by kernels of a few fixed forms?
// Directly where a form fits; else tile by tile: inputs that do not run along rows are staged,
// cotangents go to their places, to staged tiles, or wait in buffers of partial derivatives until
// they are deposited. Nothing here knows f or its types.
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/local/pull_kernels.hpp"

#include <memory>

namespace dimesh::local::detail {

inline constexpr int max_reals = 8;

/// The kernels of one function and what to do with the cotangents of its real inputs.
struct pull_kernels {
  row_kernel written, second_added, second_summed, first_only, first_only_still;  // null: none
  row_kernel partials;
  int inputs, reals, place[max_reals];  // place: of real input k among the inputs
  int bytes;  // of T, which partials computes in
  const void *nothing, *one;  // rows of -0 and of 1
  void (*widen)(index_t n, const void* from, void* to);  // ybar -> T; null: it is T
  bool same[max_reals];  // input k is T
  void (*write[max_reals])(index_t n, const void* p, const void* g, void* to);
  void (*sum[max_reals])(index_t n, const void* p, const void* g, void* to);
  void (*add[max_reals])(index_t m, index_t n, const void* p, const void* g, void* to);
};

/// The walk over all loops of a pullback. Arrays: ybar, the inputs, the cotangents of the real
/// inputs (null: not wanted).
class pull_blocks {
 public:
  pull_blocks(const array_loops& l, const pull_kernels& k, const void* f)
      : l_(l), k_(k), f_(f), w_(l) {
    buffer_bytes_ =
        buffer_elements * std::max(k.bytes, *std::max_element(l.bytes, l.bytes + l.arrays));
    for (int r = 0; r < k.reals; ++r) {
      const int b = bar(r);
      wanted_[r] = l.at[b] != nullptr;
      how_[r] = w_.step[b] == 0 ? deposit::sum : lacks_any(b) ? deposit::add : deposit::write;
    }
  }

  void run() {
    const row_kernel direct = direct_form();
    const bool alone = only_first();
    const bool together = w_.n <= (direct != nullptr ? short_row / 4 : short_row) && w_.m > 1 &&
                          w_.row[0] == w_.n && w_.step[0] == 1 && !all_dense();
    for (; w_.more(); w_.next()) {
      if (together)
        each_tile(rows_together(w_.m, w_.n), w_.n, true);
      else if (direct != nullptr)
        direct(f_, w_.m, w_.n, w_.at, w_.row);
      else if (alone)
        for (index_t i = 0; i < w_.m; ++i) run_first(i);
      else if (w_.across >= 0)
        each_tile(tile_rows, staged_columns(l_), false);
      else if (needs_rows())
        each_tile(1, tile_elements, false);
      else
        each_tile(w_.m, joint_rows, false);
    }
  }

 private:
  /// Rows up to this long are summed in one piece; a tile has as many columns as 16 rows may.
  static constexpr index_t tile_elements = 4096, buffer_elements = 8192 + stage_slack;

  struct tile {
    index_t i, j, m, n;
    bool flat;  // m short rows as one long row
  };
  /// Where a kernel finds an array: a row of a tile begins `row` elements after the one before.
  struct source {
    std::byte* at;
    index_t row;
    int bytes;
    bool still = false;  // the same along a row, joint_rows at a time
  };

  int bar(int r) const { return 1 + k_.inputs + r; }
  bool lacks_any(int a) const {
    for (int g = 0; g < l_.groups; ++g) {
      if (l_.stride[a][g] == 0) return true;
    }
    return false;
  }
  bool all_dense() const {
    for (int a = 0; a < l_.arrays; ++a) {
      if (w_.step[a] != 1 || (w_.m > 1 && w_.row[a] != w_.n)) return false;
    }
    return true;
  }
  /// Is there something that partials cannot read or write in place, along whole rows?
  bool needs_rows() const {
    bool any = k_.widen != nullptr;
    for (int a = 0; a < l_.arrays; ++a) any = any || w_.step[a] != 1;
    for (int r = 0; r < k_.reals; ++r) any = any || (wanted_[r] && !k_.same[r]);
    return any;
  }
  row_kernel direct_form() const {
    if (w_.across >= 0 || w_.step[0] != 1) return nullptr;
    int added = -1, summed = -1, others = 0;
    if (only_first()) {
      int still = 0;
      for (int j = 0; j < k_.inputs; ++j) still += w_.step[1 + j] == 0 ? 1 : 0;
      const bool second = k_.inputs == 2 && still == 1 && w_.step[2 - k_.place[0]] == 0;
      return still == 0 ? k_.first_only : second ? k_.first_only_still : nullptr;
    }
    for (int r = 0; r < k_.reals; ++r) {
      if (!wanted_[r]) return nullptr;
      if (how_[r] == deposit::write) continue;
      (how_[r] == deposit::add ? added : summed) = r;
      ++others;
    }
    for (int j = 0; j < k_.inputs; ++j) {
      if (w_.step[1 + j] != 1 && !(summed == 1 && j == k_.place[1])) return nullptr;
    }
    return others == 0                  ? k_.written
           : others == 1 && added == 1  ? k_.second_added
           : others == 1 && summed == 1 ? k_.second_summed
                                        : nullptr;
  }

  /// Is the first real input alone wanted, and do all arrays run along rows or stand still?
  bool only_first() const {
    bool yes = k_.first_only != nullptr && w_.across < 0 && wanted_[0] &&
               how_[0] == deposit::write && w_.step[bar(0)] == 1;
    for (int r = 1; r < k_.reals; ++r) yes = yes && !wanted_[r];
    for (int a = 0; a <= k_.inputs; ++a)
      yes = yes && (w_.step[a] == 1 || (a > 0 && w_.step[a] == 0));
    return yes;
  }
  /// Row i of a block where the first real input alone is wanted.
  DIMESH_OUTLINE inline void run_first(index_t i) {
    scratch_ = thread_scratch(static_cast<std::size_t>((l_.arrays + k_.reals + 1) * buffer_bytes_));
    used_ = 0;
    const tile t{i, 0, 1, w_.n, false};
    std::byte* at[max_arrays];
    index_t row[max_arrays];
    const int count = 2 + k_.inputs;
    for (int a = 0; a < count; ++a) {
      const source s = w_.step[a] == 0 ? input(t, a) : source{w_.place(a, i, 0), 0, l_.bytes[a]};
      at[a] = s.at;
      row[a] = s.still ? 0 : joint_rows;
    }
    const index_t whole = w_.n / joint_rows, rest = w_.n % joint_rows;
    if (whole > 0) k_.first_only(f_, whole, joint_rows, at, row);
    for (int a = 0; a < count; ++a) at[a] += whole * row[a] * l_.bytes[a];
    if (rest > 0) k_.first_only(f_, 1, rest, at, row);
  }
  void each_tile(index_t rows, index_t cols, bool flat) {
    const index_t most = std::min(cols, w_.n);
    for (index_t i = 0; i < w_.m; i += rows) {
      for (index_t j = 0; j < w_.n; j += most)
        run_tile({i, j, std::min(rows, w_.m - i), std::min(most, w_.n - j), flat});
    }
  }

  std::byte* buffer() { return scratch_ + (used_++) * buffer_bytes_; }

  DIMESH_OUTLINE inline void run_tile(const tile& t) {
    scratch_ = thread_scratch(static_cast<std::size_t>((l_.arrays + k_.reals + 1) * buffer_bytes_));
    used_ = 0;
    source x[max_arrays], at[max_arrays * 2], to[max_reals];
    for (int a = 0; a <= k_.inputs; ++a) x[a] = a == 0 ? cotangents(t) : input(t, a);
    int count = 0;
    for (int j = 0; j < k_.inputs; ++j) at[count++] = x[1 + j];
    for (int r = 0; r < k_.reals; ++r) {
      const source one{unwritten(k_.one), 0, k_.bytes, true};
      const source nothing{unwritten(k_.nothing), 0, k_.bytes, true};
      const bool direct = wanted_[r] && k_.same[r] && how_[r] != deposit::sum &&
                          !(t.flat && (w_.row[bar(r)] != w_.n || w_.step[bar(r)] != 1));
      to[r] = wanted_[r] ? target(t, r) : source{};
      // What nobody wants goes to a row that stays in the cache.
      const source out = direct       ? to[r]
                         : wanted_[r] ? source{buffer(), t.n, k_.bytes}
                                      : source{buffer(), 0, k_.bytes, true};
      at[count++] = out;
      at[count++] = direct && how_[r] == deposit::add ? out : nothing;
      at[count++] = direct ? x[0] : one;
      if (!direct && wanted_[r]) to[r].bytes = -to[r].bytes;  // to be deposited
    }
    run_partials(t, at, count);
    for (int r = 0; r < k_.reals; ++r) {
      if (!wanted_[r]) continue;
      if (to[r].bytes < 0) put(t, r, at[k_.inputs + 3 * r], x[0], to[r]);
      give_back(t, r, to[r]);
    }
  }
  static std::byte* unwritten(const void* p) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(p));
  }
  source cotangents(const tile& t) {
    std::byte* at = w_.place(0, t.i, t.j);
    if (k_.widen == nullptr) return {at, w_.row[0], k_.bytes};
    std::byte* room = buffer();
    for (index_t i = 0; i < t.m; ++i)
      k_.widen(t.n, at + i * w_.row[0] * l_.bytes[0], room + i * t.n * k_.bytes);
    return {room, t.n, k_.bytes};
  }
  source input(const tile& t, int a) {
    std::byte* at = w_.place(a, t.i, t.j);
    if (w_.step[a] == 1 && (!t.flat || w_.row[a] == w_.n)) return {at, w_.row[a], l_.bytes[a]};
    std::byte* room = buffer();
    const bool still = w_.step[a] == 0 && t.m == 1 && !t.flat;
    stage(l_.bytes[a], t.m, still ? std::min(t.n, joint_rows) : t.n, at, w_.row[a], w_.step[a],
          room, t.n);
    return {room, t.n, l_.bytes[a], still};
  }
  /// Where the cotangent of real input r goes: its place, or a tile of it.
  source target(const tile& t, int r) {
    const int b = bar(r);
    std::byte* at = w_.place(b, t.i, t.j);
    if (w_.step[b] == 1 || w_.step[b] == 0) return {at, w_.row[b], l_.bytes[b]};
    std::byte* room = buffer();
    const bool one_row = w_.row[b] == 0;
    if (how_[r] == deposit::add)
      stage(l_.bytes[b], one_row ? 1 : t.m, t.n, at, w_.row[b], w_.step[b], room, t.n);
    return {room, one_row ? 0 : t.n, l_.bytes[b]};
  }
  void give_back(const tile& t, int r, const source& from) const {
    const int b = bar(r);
    if (w_.step[b] == 1 || w_.step[b] == 0) return;
    unstage(l_.bytes[b], w_.row[b] == 0 ? 1 : t.m, t.n, from.at, t.n, w_.place(b, t.i, t.j),
            w_.row[b], w_.step[b]);
  }

  void run_partials(const tile& t, const source* x, int count) const {
    std::byte* at[max_arrays * 2];
    index_t row[max_arrays * 2];
    const bool long_row = t.flat || t.m == 1;
    const index_t n = t.flat ? t.m * t.n : t.n, whole = long_row ? n / joint_rows : 0;
    for (int a = 0; a < count; ++a) {
      at[a] = x[a].at;
      row[a] = x[a].still ? 0 : long_row ? joint_rows : x[a].row;
    }
    if (!long_row) {
      k_.partials(f_, t.m, n, at, row);
      return;
    }
    if (whole > 0) k_.partials(f_, whole, joint_rows, at, row);
    for (int a = 0; a < count; ++a) at[a] += whole * row[a] * x[a].bytes;
    if (n % joint_rows > 0) k_.partials(f_, 1, n % joint_rows, at, row);
  }

  /// Deposits the partial derivatives p of real input r, times g.
  void put(const tile& t, int r, const source& p, const source& g, const source& to) const {
    const int bytes = -to.bytes;
    if (how_[r] == deposit::add && t.flat && to.row == 0) {
      k_.add[r](t.m, t.n, p.at, g.at, to.at);
      return;
    }
    for (index_t i = 0; i < t.m; ++i) {
      const void* p_row = p.at + i * p.row * p.bytes;
      const void* g_row = g.at + i * g.row * g.bytes;
      void* to_row = to.at + i * to.row * bytes;
      if (how_[r] == deposit::sum)
        k_.sum[r](t.n, p_row, g_row, to_row);
      else if (how_[r] == deposit::add)
        k_.add[r](1, t.n, p_row, g_row, to_row);
      else
        k_.write[r](t.n, p_row, g_row, to_row);
    }
  }

  const array_loops& l_;
  const pull_kernels& k_;
  const void* f_;
  row_walk w_;
  bool wanted_[max_reals]{};
  deposit how_[max_reals]{};
  std::byte* scratch_ = nullptr;
  int used_ = 0;
  index_t buffer_bytes_;
};

}  // namespace dimesh::local::detail
