// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a rank of a checked build wait for others without hanging? Messages have no meeting of
// all when they arrive, so the one who waits asks the board where the others are, and throws where
// the messages cannot come any more.
//
//   requests r;   ...MPI_Irecv(..., r.add(under_way::receive));   wait_for(r, c, from, "send");
//   compare_ends(c, w, n, from, to, "send", false)   // on both, before
#pragma once

#include <algorithm>

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/requests.hpp"
#include "dimesh/detail/agreement.hpp"

namespace dimesh::collective {

/// What this rank is about to do among those of c; `along` and `place` are known already.
inline dimesh::detail::errand errand_among(const dimesh::detail::communicator& c,
                                           dimesh::detail::board& b, const char* call) {
  using namespace dimesh::detail;
  errand mine = errand_of(call);
  mine.place = b.next_place();
  put_text(mine.within, doing::now().operation);
  put_text(mine.along, c.met()->name());
  return mine;
}

/// Until it is over, whom rank `peer` of c (-1: all of the others) is needed for. Throws
/// dimesh::error where that rank has left (all of them have), or does not come for as long as ranks
/// wait for each other.
template <class Over>
void wait_until(const Over& over, const dimesh::detail::communicator& c, int peer,
                const dimesh::detail::errand& mine) {
  using namespace dimesh::detail;
  board* const b = board::here();
  std::vector<int> others;
  for (int i = 0; i < c.size(); ++i)
    if (peer < 0 ? i != c.rank() : i == peer)
      others.push_back(c.met()->ranks()[static_cast<std::size_t>(i)]);
  const waiting here(mine.call);
  const std::string waits = "waits in " + said(mine) + " for " +
                            (peer < 0 ? "the others" : "rank " + std::to_string(others[0]));
  b->set_status(waits);
  const double since = timeline::now();
  for (double ends = 0; !over();) {
    b->poll();
    const double now = timeline::now();
    if (ends == 0 &&
        std::all_of(others.begin(), others.end(), [b](int other) { return b->has_left(other); }))
      ends = now + late_by;  // the last message may be on its way
    if (ends == 0 && b->patience() > 0 && now - since > b->patience()) {
      for (const int other : others)
        if (!b->has_left(other)) b->ask(other);
      ends = now + late_by;
    }
    if (ends != 0 && now > ends) {
      b->set_status({});
      std::string text = std::string(mine.call) + ": rank " + std::to_string(b->rank()) + " " +
                         waits + since_words(now - since);
      for (const int other : others)
        text += (peer < 0 ? "; rank " + std::to_string(other) + " " : "; that rank ") +
                whereabouts(*b, other);
      if (text.size() > 1500) text.resize(1500);
      throw error(text + advice);
    }
    board::rest(since);
  }
  b->set_status({});
}

/// Until the messages to or from rank `peer` of c (-1: any of the others) are over. Throws as
/// wait_until. Without a board it waits.
inline void wait_for(requests& r, const dimesh::detail::communicator& c, int peer,
                     const char* call) {
  dimesh::detail::board* const b = dimesh::detail::board::here();
  if (b != nullptr && c.met() != nullptr)
    wait_until(
        [&] {
          r.progress(call);
          return r.done();
        },
        c, peer, errand_among(c, *b, call));
  r.wait(call);
}

/// Do the two ends of a message of n elements mean the same? The one that sends says what it is
/// about to do, and waits for nothing; the one that receives compares, if it waits for the message
/// (not where it is only begun). Throws dimesh::error there, then and at each further message of
/// the two: the refused one is in their way.
inline void compare_ends(const dimesh::detail::communicator& c, const wire& w, index_t n, int from,
                         int to, const char* call, bool begun) {
  using namespace dimesh::detail;
  board* const b = board::here();
  if (b == nullptr || c.met() == nullptr) return;
  errand mine = errand_among(c, *b, call);
  mine.count = n;
  mine.element = static_cast<unsigned>(w.kind) << 16 | static_cast<unsigned>(w.size);
  mine.operands = doing::now().operands;
  mine.extents = doing::now().extents.sent;
  const auto [key, turn] = c.met()->next_message(from, to);
  const auto rank_of = [&c](int r) { return c.met()->ranks()[static_cast<std::size_t>(r)]; };
  const std::string sender = "rank " + std::to_string(rank_of(from)),
                    receiver = "rank " + std::to_string(rank_of(to));
  if (c.rank() == from) {
    b->send(rank_of(to), notice_kind::errand, key, turn, mine);
    return b->poll();
  }
  if (begun) return b->ignore(notice_kind::errand, key, turn, rank_of(from));
  if (c.met()->has_refused(key))
    throw error(std::string(call) + ": a message of " + sender + " to " + receiver +
                " was refused before, and would come first; end the program");
  notice got;
  wait_until([&] { return b->take(notice_kind::errand, key, turn, rank_of(from), got); }, c, from,
             mine);
  const errand& other = got.what;
  if (other.count == mine.count && other.element == mine.element && other.operands == mine.operands)
    return;
  c.met()->refuse(key);
  throw error(std::string(call) + ": the two ranks of a message make different calls: " + receiver +
              " is about to do " + said(mine) + "; " + sender +
              ", from which it comes, is about to do " + said(other) +
              hidden_difference(mine, other) + advice);
}

}  // namespace dimesh::collective
