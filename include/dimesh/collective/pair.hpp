// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a rank of a checked build wait for others without hanging? Messages have no meeting of
// all when they arrive, so the one who waits asks the board where the others are, and throws where
// the messages cannot come any more.
//
//   requests r;   ...MPI_Irecv(..., r.add(under_way::receive));   wait_for(r, c, from, "send");
#pragma once

#include <algorithm>

#include "dimesh/collective/requests.hpp"
#include "dimesh/detail/agreement.hpp"

namespace dimesh::collective {

/// Until the messages to or from rank `peer` of c (-1: any of the others) are over. Throws
/// dimesh::error where that rank has left (all of them have), or does not come for as long as ranks
/// wait for each other. Without a board it waits.
inline void wait_for(requests& r, const dimesh::detail::communicator& c, int peer,
                     const char* call) {
  using namespace dimesh::detail;
  board* const b = board::here();
  if (b == nullptr || c.met() == nullptr) return r.wait(call);
  std::vector<int> others;
  for (int i = 0; i < c.size(); ++i)
    if (peer < 0 ? i != c.rank() : i == peer)
      others.push_back(c.met()->ranks()[static_cast<std::size_t>(i)]);
  const waiting here(call);
  errand mine = errand_of(call);
  mine.place = b->next_place();
  put_text(mine.within, doing::now().operation);
  put_text(mine.along, c.met()->name());
  const std::string waits = "waits in " + said(mine) + " for " +
                            (peer < 0 ? "the others" : "rank " + std::to_string(others[0]));
  b->set_status(waits);
  const double since = timeline::now();
  for (double ends = 0;;) {
    r.progress(call);
    if (r.done()) break;
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
      std::string text = std::string(call) + ": rank " + std::to_string(b->rank()) + " " + waits +
                         since_words(now - since);
      for (const int other : others)
        text += (peer < 0 ? "; rank " + std::to_string(other) + " " : "; that rank ") +
                whereabouts(*b, other);
      if (text.size() > 1500) text.resize(1500);
      throw error(text + advice);
    }
    board::rest(since);
  }
  b->set_status({});
  r.wait(call);
}

}  // namespace dimesh::collective
