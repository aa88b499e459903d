// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do all ranks of a group make the same call? In checked builds they ask each other before they
// make it: rank by rank they tell the first of the group what they are about to do, and it answers
// that all agree, or who is the first that differs, or who does not come. The answer is an
// exception on all who wait; nobody waits for ever.
//
//   meeting m(comm, "rows of pod");   m.agree(errand);       // throws dimesh::error
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "dimesh/detail/errand_words.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/error.hpp"

namespace dimesh::detail {

/// The ranks of a communicator, which meet before each of their collectives.
class meeting {
 public:
  /// A number that no other call returns, the same on all ranks. Collective over `comm`.
  static std::uint64_t agreed_number(MPI_Comm comm) {
    static std::atomic<std::uint32_t> made{0};
    const board* const b = board::here();
    if (b == nullptr) return 0;
    std::uint64_t number = (static_cast<std::uint64_t>(b->rank() + 1) << 32) + ++made;
    PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, comm);
    return number;
  }
  /// Of all ranks of `comm`, or of these. Null where there is no board. Not collective. Groups with
  /// an agreed number may be made in any order, by any thread, one of each name; without one (0),
  /// ranks make the meetings of a group in one order.
  static std::unique_ptr<meeting> of(MPI_Comm comm, std::string_view name,
                                     const std::vector<int>* members = nullptr,
                                     std::uint64_t number = 0) {
    const board* const b = board::here();
    if (b == nullptr) return nullptr;
    std::vector<int> from;
    int size = 0;
    PMPI_Comm_size(comm, &size);
    if (members != nullptr)
      from = *members;
    else
      for (int r = 0; r < size; ++r) from.push_back(r);
    std::vector<int> ranks(from.size());
    MPI_Group some = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &some);
    PMPI_Comm_group(b->comm(), &all);
    PMPI_Group_translate_ranks(some, static_cast<int>(from.size()), from.data(), all, ranks.data());
    PMPI_Group_free(&some);
    PMPI_Group_free(&all);
    return std::unique_ptr<meeting>(new meeting(std::move(ranks), name, number));
  }

  const std::vector<int>& ranks() const { return ranks_; }
  const std::string& name() const { return name_; }
  /// A number for a further meeting of these ranks, by what it is for: the same on all of them.
  std::uint64_t number_for(std::uint64_t what) const { return hash_of(&what, sizeof what, key_); }

  /// Of the messages from one of these ranks to another one: the group that they are of, and the
  /// number of the next one. Both ends ask for each.
  std::pair<std::uint64_t, std::uint64_t> next_message(int from, int to) const {
    const std::uint64_t key =
        number_for((std::uint64_t{1} << 63) | static_cast<std::uint64_t>(from) << 32 |
                   static_cast<std::uint64_t>(to));
    const std::lock_guard here(messages_lock_);  // who meets holds the other one, and waits
    return {key, ++messages_[key]};
  }

  /// A message of this group was refused, and lies where the next one would be looked for.
  void refuse(std::uint64_t key) const {
    const std::lock_guard here(messages_lock_);
    refused_.insert(key);
  }
  bool has_refused(std::uint64_t key) const {
    const std::lock_guard here(messages_lock_);
    return refused_.count(key) > 0;
  }

  /// Throws dimesh::error on every rank that comes, unless all come for the same.
  /// `blocks` are words for what mine.kept stands for.
  void agree(errand mine, const std::string& blocks = {}) const {
    board* const b = board::here();
    if (ranks_.size() < 2 || b == nullptr) return;
    const std::lock_guard one_by_one(busy_);  // threads may make grids of the same ranks
    const std::uint64_t turn = ++turn_;
    mine.place = b->next_place();
    if (!name_.empty()) put_text(mine.along, name_);
    b->set_status("waits in " + said(mine));
    const waiting here(mine.call);
    const std::string fault =
        ranks_[0] == b->rank() ? lead(*b, mine, turn, blocks) : follow(*b, mine, turn);
    b->set_status({});
    b->forget(key_, turn);
    if (!fault.empty()) throw error(fault);
  }

 private:
  meeting(std::vector<int> ranks, std::string_view name, std::uint64_t number)
      : ranks_(std::move(ranks)), name_(name) {
    static std::mutex lock;
    static std::map<std::uint64_t, std::uint64_t> made;
    key_ = hash_of(ranks_.data(), ranks_.size() * sizeof(int), hash_of(name.data(), name.size()));
    if (number == 0) {
      const std::lock_guard here(lock);
      number = ++made[key_];
    }
    key_ = hash_of(&number, sizeof number, key_);
  }

  /// The first of the group: hears what the others want and tells them.
  std::string lead(board& b, const errand& mine, std::uint64_t turn,
                   const std::string& blocks) const {
    const std::size_t n = ranks_.size();
    std::vector<char> there(n, 0);
    std::vector<errand> theirs(n);
    there[0] = 1, theirs[0] = mine;
    const double since = timeline::now();
    double ends = 0;  // when nobody waits any longer; 0: not known
    bool alike = true;
    for (std::size_t come = 1; come < n;) {
      b.poll();
      bool gone = false;
      for (std::size_t i = 1; i < n; ++i) {
        notice got;
        if (there[i]) continue;
        if (!b.take(notice_kind::errand, key_, turn, ranks_[i], got)) {
          gone = gone || b.has_left(ranks_[i]);
          continue;
        }
        there[i] = 1, theirs[i] = got.what, ++come;
        alike = alike && same_errand(mine, got.what);
      }
      if (come == n) break;
      const double now = timeline::now();
      if (ends == 0 && (gone || !alike)) ends = now + late_by;
      if (ends == 0 && b.patience() > 0 && now - since > b.patience()) {
        for (std::size_t i = 1; i < n; ++i)
          if (!there[i] && !b.has_left(ranks_[i])) b.ask(ranks_[i]);
        ends = now + late_by;
      }
      if (ends != 0 && now > ends) break;
      board::rest(since);
    }
    // Who has left since it came does not wait for an answer.
    for (std::size_t i = 1; i < n; ++i)
      if (there[i] && b.has_left(ranks_[i])) there[i] = 0;
    std::string text =
        alike ? missing(b, mine, there, timeline::now() - since) : difference(mine, there, theirs);
    if (text.empty()) text = other_extents(mine, theirs);
    if (text.empty()) text = other_blocks(mine, theirs, blocks);
    for (std::size_t i = 1; i < n; ++i)
      if (!b.has_left(ranks_[i])) b.send(ranks_[i], notice_kind::verdict, key_, turn, {}, text);
    return text;
  }
  /// The others: tell the first what they want, and wait for its answer.
  std::string follow(board& b, const errand& mine, std::uint64_t turn) const {
    const int first = ranks_[0];
    b.send(first, notice_kind::errand, key_, turn, mine);
    const double since = timeline::now();
    for (double ends = 0;;) {
      b.poll();
      notice got;
      if (b.take(notice_kind::verdict, key_, turn, first, got)) return got.text;
      const double now = timeline::now();
      if (ends == 0 && b.has_left(first)) ends = now;
      // The first of the group waits for others likewise; its answer says more than this rank's.
      if (ends == 0 && b.patience() > 0 && now - since > b.patience() + 2 * late_by) {
        b.ask(first);
        ends = now + late_by;
      }
      if (ends != 0 && now >= ends)
        return std::string(mine.call) + ": rank " + std::to_string(b.rank()) + " waits in " +
               said(mine) + since_words(now - since) + "; rank " + std::to_string(first) + " " +
               whereabouts(b, first) + advice;
      board::rest(since);
    }
  }

  std::string difference(const errand& mine, const std::vector<char>& there,
                         const std::vector<errand>& theirs) const {
    for (std::size_t i = 1; i < there.size(); ++i)
      if (there[i] && !same_errand(mine, theirs[i]))
        return std::string(mine.call) +
               ": the ranks of this communicator make different calls: rank " +
               std::to_string(ranks_[0]) + " is about to do " + said(mine) + "; rank " +
               std::to_string(ranks_[i]) + " is the first that differs: it is about to do " +
               said(theirs[i]) + hidden_difference(mine, theirs[i]) + advice;
    return {};
  }
  /// A dim may be summed away before ranks meet.
  std::string other_extents(const errand& mine, const std::vector<errand>& theirs) const {
    for (std::size_t i = 1; i < theirs.size(); ++i)
      if (const std::string words = two_extents(mine.extents, theirs[i].extents); !words.empty())
        return std::string(mine.call) + ": of what the operands were made of, " + words +
               " on ranks " + std::to_string(ranks_[0]) + " and " + std::to_string(ranks_[i]) +
               "; all ranks give a dim one extent, that of the whole tensor";
    return {};
  }
  std::string other_blocks(const errand& mine, const std::vector<errand>& theirs,
                           const std::string& blocks) const {
    for (std::size_t i = 1; i < theirs.size(); ++i)
      if (theirs[i].kept == mine.kept && theirs[i].values != mine.values)
        return std::string(mine.call) + ": replicas differ: " + blocks +
               ", is the same on these ranks by its layout, but rank " + std::to_string(ranks_[i]) +
               " holds other elements than rank " + std::to_string(ranks_[0]) +
               "; make it from the same numbers on all ranks, or split it";
    return {};
  }
  std::string missing(board& b, const errand& mine, const std::vector<char>& there,
                      double waited) const {
    std::string here, away;
    for (std::size_t i = 0; i < there.size(); ++i) {
      const std::string rank = std::to_string(ranks_[i]);
      if (there[i])
        here += " " + rank;
      else
        away += "; rank " + rank + " " + whereabouts(b, ranks_[i]);
    }
    if (away.empty()) return {};
    if (away.size() > 1500) away.resize(1500);
    return std::string(mine.call) + ": waiting in " + said(mine) + since_words(waited) + ": rank" +
           here + away + advice;
  }
  std::vector<int> ranks_;  // of the board
  std::string name_;
  std::uint64_t key_ = 0;
  mutable std::uint64_t turn_ = 0;
  mutable std::map<std::uint64_t, std::uint64_t> messages_;
  mutable std::set<std::uint64_t> refused_;
  mutable std::mutex messages_lock_;
  mutable std::mutex busy_;
};

/// Before a collective over a communicator of the user: throws as meeting::agree does. `with` is
/// what the ranks must give alike.
inline void meet_over(MPI_Comm comm, const char* call, std::string_view with = {}) {
  static std::mutex lock;
  static std::map<std::vector<int>, std::unique_ptr<meeting>> all;
  meeting* m = nullptr;
  {
    const std::lock_guard here(lock);
    auto made = meeting::of(comm, "");
    if (made == nullptr) return;
    auto& slot = all[made->ranks()];
    if (slot == nullptr) slot = std::move(made);
    m = slot.get();
  }
  errand mine = errand_of(call);
  put_text(mine.along, with);
  mine.operands = hash_of(with.data(), with.size());  // the text is cut to fit
  m->agree(mine);
}

}  // namespace dimesh::detail
