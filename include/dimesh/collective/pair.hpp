// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a rank of a checked build wait for one other without hanging? Messages between two ranks
// have no meeting of all before them, so the one who waits asks the board where the other is, and
// throws where the message cannot come any more.
//
//   requests r;   ...MPI_Irecv(..., r.add(under_way::receive));   wait_for(r, c, from, "send");
#pragma once

#include "dimesh/collective/requests.hpp"
#include "dimesh/detail/agreement.hpp"

namespace dimesh::collective {

/// Until the messages to or from rank `peer` of c are over. Throws dimesh::error where that rank
/// has left, or does not come for as long as ranks wait for each other. Without a board it waits.
inline void wait_for(requests& r, const dimesh::detail::communicator& c, int peer,
                     const char* call) {
  using namespace dimesh::detail;
  board* const b = board::here();
  if (b == nullptr || c.met() == nullptr) return r.wait(call);
  const int other = c.met()->ranks()[static_cast<std::size_t>(peer)];
  const waiting here(call);
  errand mine = errand_of(call);
  mine.place = b->next_place();
  put_text(mine.within, doing::now().operation);
  put_text(mine.along, c.met()->name());
  const std::string waits = "waits in " + said(mine) + " for rank " + std::to_string(other);
  b->set_status(waits);
  const double since = timeline::now();
  for (double ends = 0;;) {
    r.progress(call);
    if (r.done()) break;
    b->poll();
    const double now = timeline::now();
    if (ends == 0 && b->has_left(other))
      ends = now + late_by;  // its last message may be on its way
    if (ends == 0 && b->patience() > 0 && now - since > b->patience()) {
      b->ask(other);
      ends = now + late_by;
    }
    if (ends != 0 && now > ends) {
      b->set_status({});
      throw error(std::string(call) + ": rank " + std::to_string(b->rank()) + " " + waits +
                  since_words(now - since) + "; that rank " + whereabouts(*b, other) + advice);
    }
    board::rest(since);
  }
  b->set_status({});
  r.wait(call);
}

}  // namespace dimesh::collective
