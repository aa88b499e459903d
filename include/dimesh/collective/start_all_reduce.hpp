// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a buffer summed over ranks while they go on computing? The sum is started, asked after
// now and then (most MPI libraries move data only when called), and waited for.
//
//   pending_sums sums;   sums.start(c, x, n);   sums.progress();  ...  sums.wait();
#pragma once

#include <vector>

#include "dimesh/collective/element.hpp"

namespace dimesh::collective {

/// Sums that have been started, in the order in which they were. Ranks start them in one order.
class pending_sums {
 public:
  /// x[0..n) becomes its sum over the ranks of c; nobody touches it until wait() returns. Payload:
  /// n elements, in messages of at most `most` of them.
  template <class T>
  void start(const dimesh::detail::communicator& c, T* x, index_t n, index_t most) {
    prepare(c, "start_all_reduce", n);
    for (index_t at = 0; at < n; at += most) {
      const auto count = static_cast<int>(most < n - at ? most : n - at);
      requests_.push_back(MPI_REQUEST_NULL);
      dimesh::detail::check(
          MPI_Iallreduce(MPI_IN_PLACE, x + at, count, element<T>::type(),
                         operation<T>(reduction::sum), c.handle(), &requests_.back()),
          "start_all_reduce");
    }
  }
  /// Lets MPI work on them.
  void progress() {
    int done = 1;
    while (done && first_ < requests_.size()) {
      dimesh::detail::check(MPI_Test(&requests_[first_], &done, MPI_STATUS_IGNORE),
                            "start_all_reduce");
      first_ += static_cast<std::size_t>(done);
    }
  }
  void wait() {
    dimesh::detail::check(
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "start_all_reduce");
    requests_.clear();
    first_ = 0;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::size_t first_ = 0;  // those before it are done
};

}  // namespace dimesh::collective
