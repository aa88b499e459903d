// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a buffer summed over ranks while they go on computing? The sum is started, asked after
// now and then (most MPI libraries move data only when called), and waited for.
//
//   pending_sums sums;   sums.start(c, x, n, most, memory);   sums.progress();  ...  sums.wait();
//
// Where an exception comes before wait(), the memory stays taken until MPI is done with it.
#pragma once

#include "dimesh/collective/all_reduce.hpp"

namespace dimesh::collective {

/// Sums that have been started, in the order in which they were. Ranks start them in one order.
class pending_sums {
 public:
  /// x[0..n), elements that travel as w, becomes its sum over the ranks of c; nobody touches it
  /// until wait() returns. `memory` is where it lies. Payload: n elements, in messages of at most
  /// `most` of them.
  void start_elements(const dimesh::detail::communicator& c, const wire& w, std::byte* x, index_t n,
                      index_t most, const dimesh::detail::storage& memory) {
    if (memory) sums_.keep(memory);
    for (index_t at = 0; at < n; at += most)
      all_reduce_elements(c, w, x + at * w.size, x + at * w.size, most < n - at ? most : n - at,
                          reduction::sum, &sums_);
  }
  template <class T>
  void start(const dimesh::detail::communicator& c, T* x, index_t n, index_t most,
             const dimesh::detail::storage& memory = {}) {
    start_elements(c, wire_of<T>, bytes_of(x), n, most, memory);
  }
  /// Lets MPI work on them.
  void progress() { sums_.progress(call); }
  void wait() { sums_.wait(call); }
  /// Nobody will wait for them any more.
  void give_up() noexcept { sums_.give_up(); }

 private:
  static constexpr const char* call = "start_all_reduce";
  requests sums_;
};

}  // namespace dimesh::collective
