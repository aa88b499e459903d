// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the ranks before this one hold together? Their elements joined in the order of ranks, by
// any associative function, which need not commute.
//
//   exscan(c, joined_by<carry>(join), x, y, n)    -> y[i] is x[i] of ranks 0 .. rank - 1, joined;
//                                                    on rank 0 it stays as it was
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::collective {

/// after[i] = before[i] joined with after[i], of elements whose type has been lost.
struct joiner {
  void (*join)(const void* self, const void* before, void* after, index_t n);
  const void* self;
};

/// f(before, after) on elements of C. Refers to f.
template <class C, class F> joiner joined_by(const F& f) {
  return {[](const void* self, const void* before, void* after, index_t n) {
            const dimesh::detail::writes_memory loop;
            const F& g = *static_cast<const F*>(self);
            const C* const a = static_cast<const C*>(before);
            C* const b = static_cast<C*>(after);
            for (index_t i = 0; i < n; ++i) b[i] = g(a[i], b[i]);
          },
          &f};
}

namespace detail {

/// What MPI's calls of a scan on this thread mean: MPI hands no context to a function.
inline constinit thread_local const joiner* joining = nullptr;

inline void join_now(void* before, void* after, int* n, MPI_Datatype*) {
  joining->join(joining->self, before, after, *n);
}

/// MPI's words for one scan: elements of so many bytes, which it does not cut, and the function.
struct scan_words {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;

  scan_words(const joiner& j, index_t bytes) {
    constexpr int commutes = 0;
    joining = &j;
    dimesh::detail::check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "exscan");
    dimesh::detail::check(MPI_Type_commit(&type), "exscan");
    dimesh::detail::check(MPI_Op_create(&join_now, commutes, &op), "exscan");
  }
  scan_words(const scan_words&) = delete;
  scan_words& operator=(const scan_words&) = delete;
  ~scan_words() {
    joining = nullptr;
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }
};

}  // namespace detail

/// y[0..n) becomes what the ranks of c before this one hold in x[0..n), joined in their order; the
/// first rank's y is left alone. Payload: n elements.
template <class C>
void exscan(const dimesh::detail::communicator& c, const joiner& j, const C* x, C* y, index_t n) {
  if (c.size() == 1 || n == 0) return;
  constexpr wire w{element_kind::other, static_cast<index_t>(sizeof(C))};
  prepare(c, "exscan", n, w);
  const told here(event_kind::scan, c, n * w.size);
  const detail::scan_words in(j, w.size);
  staged near = staged::of_sums(nullptr, true);
  x = near.reads(x, n * w.size);
  y = near.writes(y, n * w.size);
  for (index_t at = 0, step = INT_MAX; at < n; at += step)
    dimesh::detail::check(
        MPI_Exscan(x + at, y + at, static_cast<int>(step < n - at ? step : n - at), in.type, in.op,
                   c.handle()),
        "exscan");
  if (c.rank() > 0) near.bring();
}

}  // namespace dimesh::collective
