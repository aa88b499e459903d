// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which rows go to which rank, when every row names a group and groups lie on ranks? Every rank
// counts its rows by group. First all say how many rows and groups there are: one with other
// numbers is found before anybody waits for its counts. Then counts meet in one all-to-all, and
// what each rank is to hold in one gather, so that all ranks know the new cuts. Sizes that enter a
// later collective are those that sender and receiver agreed on here.
//
//   dispatch_table t;   t.meet(group_of_row, group_cuts, lengths)
//     leave[k]    the row that lies k-th in the send buffer (by group, then as rows lay)
//     arrive[k]   where the k-th row of the receive buffer goes (by group, then by sender)
#pragma once

#include "dimesh/collective/all_gather.hpp"
#include "dimesh/collective/all_to_all.hpp"
#include "dimesh/core/plans.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::detail {

struct dispatch_table : move_plan {
  const communicator* over = nullptr;  // null: one rank
  const grid_state* grid = nullptr;  // null: shapes
  const dim_facts *rows = nullptr, *groups = nullptr;
  index_t extent = 0;  // of the rows
  cut_list before, after;  // of the rows; before: where they were ragged
  std::vector<index_t> leave, arrive;
  std::vector<collective::run> send, receive;  // rows for and from each rank
  bool is_uneven;  // the rows, before
  index_t most = 0;  // rows of any rank, before or after
  bool is_fixed;  // the type says how many rows there are, so that all go somewhere
  std::uint64_t told = 0;  // a hash of what all ranks said: two plans of other rows differ in it

  static constexpr index_t nowhere = -1;

  /// What each rank says of itself before counts travel: its rows and all, all groups, the first
  /// row without a group (-1: none), and what stands there.
  struct claim {
    index_t rows, extent, groups, wrong, group;
  };
  /// And afterwards: the rows that it will hold, and a hash of its counts.
  struct finding {
    index_t rows;
    std::uint64_t counts;
  };

  /// Of rows numbered by x, which an axis splits. Until they have met: as though all ranks were to
  /// hold equally many.
  dispatch_table(const dim_facts* r, const dim_facts* g, const tensor_core& x, int axis)
      : grid(x.is_shape ? nullptr : x.grid),
        rows(r),
        groups(g),
        extent(x.extent(0)),
        after(cut_by_ceil(r, extent, x.sizes()[axis])),
        is_uneven(x.layout().uneven[0]),
        is_fixed(r->extent != dynamic) {
    if (x.facts->ragged != 0) before.add(rows, cuts_of_dim(x.cuts.first(), rows)->begin);
  }

  int ranks() const { return over == nullptr ? 1 : over->size(); }
  int me() const { return over == nullptr ? 0 : over->rank(); }

  /// How many rows go somewhere.
  index_t extent_after() const { return after.first()->extent(); }

  /// Works out everything from the groups of this rank's rows, the first of which is row `offset`
  /// of all; rows of group -1 go nowhere. cut: the blocks of groups. Leaves the lengths of this
  /// rank's groups. All ranks, or none, throw dimesh::error.
  void meet(const std::vector<index_t>& group, index_t offset, const cut_record& cut,
            index_t* lengths) {
    const writes_arrays host;
    const index_t all = cut.extent(), parts = ranks();
    std::vector<index_t> count(static_cast<std::size_t>(all));
    index_t wrong = -1;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (group[i] >= 0 && group[i] < all)
        ++count[static_cast<std::size_t>(group[i])];
      else if (wrong < 0 && (group[i] != nowhere || is_fixed))
        wrong = static_cast<index_t>(i);
    agree({static_cast<index_t>(group.size()), extent, all, wrong < 0 ? -1 : offset + wrong,
           wrong < 0 ? 0 : group[static_cast<std::size_t>(wrong)]});
    const block mine = cut.at(me(), parts);
    const std::vector<index_t> theirs = swap_counts(count, cut);
    for (index_t j = 0; j < mine.length; ++j) {
      lengths[j] = 0;
      for (index_t r = 0; r < parts; ++r)
        lengths[j] += theirs[static_cast<std::size_t>(r * mine.length + j)];
    }
    cut_anew({sum_of(theirs.data(), theirs.size()), mixed(0, count)});
    sort_leaving(group, count);
    lay_out_runs(count, theirs, cut);
    place_arrivals(theirs, mine.length, lengths);
  }

 private:
  static index_t sum_of(const index_t* x, std::size_t n) {
    index_t s = 0;
    for (std::size_t i = 0; i < n; ++i) s += x[i];
    return s;
  }
  /// [sender][own group]: how many rows come.
  std::vector<index_t> swap_counts(const std::vector<index_t>& count, const cut_record& cut) const {
    const index_t parts = ranks(), own = cut.at(me(), parts).length;
    std::vector<index_t> theirs(static_cast<std::size_t>(parts * own));
    std::vector<collective::run> out(static_cast<std::size_t>(parts)), in(out.size());
    for (index_t r = 0; r < parts; ++r) {
      if (r == me()) continue;
      const block b = cut.at(r, parts);
      out[static_cast<std::size_t>(r)] = {b.offset, b.length};
      in[static_cast<std::size_t>(r)] = {r * own, own};
    }
    const index_t longest = parts * cut.longest(parts);
    const of_host numbers;
    if (over != nullptr)
      collective::all_to_all_v(*over, count.data(), out.data(), theirs.data(), in.data(),
                               longest > cut.extent() ? longest : cut.extent());
    std::copy_n(count.begin() + cut.at(me(), parts).offset, own, theirs.begin() + me() * own);
    return theirs;
  }
  /// A hash of numbers (Fowler, Noll, Vo).
  static std::uint64_t mixed(std::uint64_t h, const std::vector<index_t>& x) {
    for (const index_t n : x) h = (h ^ static_cast<std::uint64_t>(n)) * 1099511628211ull;
    return h;
  }
  template <class W> std::vector<W> said_by_all(const W& own) const {
    std::vector<W> said(static_cast<std::size_t>(ranks()), own);
    const of_host numbers;
    if (over != nullptr) collective::all_gather(*over, &own, 1, said.data());
    return said;
  }
  /// What all say is alike, and no row is without a group.
  void agree(const claim& own) {
    const std::vector<claim> said = said_by_all(own);
    for (std::size_t r = 0; r < said.size(); ++r) {
      require_same(rows, &claim::extent, said, r);
      require_same(groups, &claim::groups, said, r);
    }
    for (const claim& c : said) {
      if (c.wrong >= 0)
        (words() << "all_to_all_counts: row " << c.wrong << " of dim '" << rows->name
                 << "' belongs to group " << c.group << ", and dim '" << groups->name << "' has "
                 << c.groups << " groups; numbers of groups begin at 0")
            .raise();
      most = std::max(most, c.rows);
    }
  }
  static void require_same(const dim_facts* d, index_t claim::* what,
                           const std::vector<claim>& said, std::size_t r) {
    if (said[r].*what == said[0].*what) return;
    (words() << "all_to_all_counts: dim '" << d->name << "' has " << said[0].*what
             << " elements on rank 0 of the axis and " << said[r].*what << " on rank "
             << static_cast<index_t>(r) << "; all ranks of a call give it one extent")
        .raise();
  }
  void cut_anew(const finding& own) {
    const std::vector<finding> said = said_by_all(own);
    std::vector<index_t> begin{0};
    for (const finding& f : said) {
      begin.push_back(begin.back() + f.rows);
      most = std::max(most, f.rows);
      told = mixed(told, {f.rows, static_cast<index_t>(f.counts)});
    }
    after = cut_list();
    after.add(rows, std::move(begin));
  }
  /// A sort by counting, in the order of rows within a group.
  void sort_leaving(const std::vector<index_t>& group, const std::vector<index_t>& count) {
    std::vector<index_t> next(count.size());
    for (std::size_t g = 1; g < count.size(); ++g) next[g] = next[g - 1] + count[g - 1];
    leave.resize(static_cast<std::size_t>(sum_of(count.data(), count.size())));
    for (std::size_t i = 0; i < group.size(); ++i)
      if (group[i] != nowhere)
        leave[static_cast<std::size_t>(next[static_cast<std::size_t>(group[i])]++)] =
            static_cast<index_t>(i);
  }
  void lay_out_runs(const std::vector<index_t>& count, const std::vector<index_t>& theirs,
                    const cut_record& cut) {
    const index_t parts = ranks(), own = cut.at(me(), parts).length;
    index_t out = 0, in = 0;
    for (index_t r = 0; r < parts; ++r) {
      const block b = cut.at(r, parts);
      const index_t sent = sum_of(count.data() + b.offset, static_cast<std::size_t>(b.length));
      const index_t came = sum_of(theirs.data() + r * own, static_cast<std::size_t>(own));
      send.push_back({out, sent});
      receive.push_back({in, came});
      out += sent, in += came;
    }
  }
  void place_arrivals(const std::vector<index_t>& theirs, index_t own, const index_t* lengths) {
    std::vector<index_t> next(static_cast<std::size_t>(own));
    for (index_t j = 1; j < own; ++j)
      next[static_cast<std::size_t>(j)] = next[static_cast<std::size_t>(j - 1)] + lengths[j - 1];
    for (index_t k = 0; k < static_cast<index_t>(theirs.size()); ++k)
      for (index_t i = 0; i < theirs[static_cast<std::size_t>(k)]; ++i)
        arrive.push_back(next[static_cast<std::size_t>(k % own)]++);
  }
};

}  // namespace dimesh::detail
