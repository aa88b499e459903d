// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of a move whose memories lie where they lay last time, if it packs nothing? What MPI
// was told: a collective, or messages that have persistent requests.
//
//   call_again c;   c.become(dense, x, once);
//   if (c.fits(x, y, once)) check(c.now(), "all_gather");   // or c.begin() and c.wait()
#pragma once

#include "dimesh/collective/requests.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

class call_again {
 public:
  // Not where kernels may still write what is moved, pages are to be opened, or calls compared.
#if defined(DIMESH_CHECKED) || defined(DIMESH_CLOSED)
  static constexpr bool is_possible = false;
#else
  static constexpr bool is_possible = dimesh::detail::hosts_only;
#endif

  call_again() = default;
  /// It is this collective, of what lies in x (and has been copied, where it is a broadcast), and
  /// counts once along these axes.
  void become(const dense_call& c, const void* x, unsigned once) {
    call_ = c;
    call_.x = x;
    once_ = once;
    messages_ = nullptr;
  }
  /// It is the messages that these requests have, between x and y.
  void become(requests& of, const void* x, void* y, unsigned once) {
    call_ = {dense::nothing, x, y};
    once_ = once;
    messages_ = of.repeated();
  }
  void forget() { *this = {}; }
  bool fits(const void* x, const void* y, unsigned once) const {
    return x == call_.x && y == call_.y && once == once_ &&
           (call_.what != dense::nothing || messages_ != nullptr);
  }

  /// Each returns what MPI does.
  int now() {
    if (messages_ == nullptr) return call_.now();
    const int code = messages_->start_all();
    return code == MPI_SUCCESS ? wait() : code;
  }
  int begin() { return messages_ == nullptr ? call_.begin(&request_) : messages_->start_all(); }
  int test(int& over) {
    const dimesh::detail::errors_of_waits_returned here;
    return messages_ == nullptr ? MPI_Test(&request_, &over, MPI_STATUS_IGNORE)
                                : messages_->test_all(over);
  }
  int wait() {
    const dimesh::detail::errors_of_waits_returned here;
    const int code =
        messages_ == nullptr ? MPI_Wait(&request_, MPI_STATUS_IGNORE) : messages_->wait_all();
    detail::abandoned::reap();
    return code;
  }
  /// What was begun, if anything, is to be waited for there.
  void leave_to(requests& r) {
    if (messages_ != nullptr)
      r.add_repeated();
    else if (request_ != MPI_REQUEST_NULL)
      *r.add() = std::exchange(request_, MPI_REQUEST_NULL);
  }

 private:
  dense_call call_;
  messages_again* messages_ = nullptr;
  unsigned once_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace dimesh::collective
