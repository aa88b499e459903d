// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank collect the blocks of all, or hand them out?
//
//   gather_v(c, x, count, y, root)    -> on the root y holds the blocks in rank order
//   scatter_v(c, x, count, y, root)   -> y is the block of count[rank] elements that the root had
#pragma once

#include "dimesh/collective/point.hpp"

namespace dimesh::collective {

/// Blocks of count[r] elements, known on every rank; y matters on the root, whose own block may be
/// in its place there already. With `later`: begins to collect them (but at once where MPI cannot
/// count them). Payload: the own block.
template <class T>
void gather_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
              int root, index_t limit = most_per_call<T>, requests* later = nullptr) {
  index_t sum = 0, before = 0;
  for (int r = 0; r < c.size(); ++r) {
    if (r == root) before = sum;
    sum += count[r];
  }
  if (c.size() == 1) return copy(x, y, sum);
  if (sum == 0) return;
  prepare(c, "gather", sum, wire_of<T>);
  const index_t n = count[c.rank()];
  const told here(event_kind::gather, c, n * wire_of<T>.size);
  const bool in_place = c.rank() == root && x == y + before;
  const auto begin = [&](staged& near) -> const void* {
    if (c.rank() == root) y = near.writes(y, sum * wire_of<T>.size, in_place);
    return in_place ? MPI_IN_PLACE : near.reads(x, n * wire_of<T>.size);
  };
  if (sum <= limit && later != nullptr) {
    const auto ints = std::make_shared<detail::int_arrays>();
    ints->fit(c.size());
    detail::to_int(element<T>::units, count, c.size(), ints->receive_count, ints->receive_at);
    later->keep(std::shared_ptr<const void>(ints));  // MPI reads them until it is over
    staged near(later);
    const void* const sent = begin(near);
    dimesh::detail::check(
        MPI_Igatherv(sent, static_cast<int>(n * element<T>::units), element<T>::type(), y,
                     ints->receive_count.data(), ints->receive_at.data(), element<T>::type(), root,
                     c.handle(), later->add()),
        "gather");
    near.bring();
  } else if (sum <= limit) {
    auto& ints = detail::int_arrays::instance(c.size());
    detail::to_int(element<T>::units, count, c.size(), ints.receive_count, ints.receive_at);
    staged near;
    const void* const sent = begin(near);
    dimesh::detail::check(MPI_Gatherv(sent, static_cast<int>(n * element<T>::units),
                                      element<T>::type(), y, ints.receive_count.data(),
                                      ints.receive_at.data(), element<T>::type(), root, c.handle()),
                          "gather");
    near.bring();
  } else if (c.rank() != root) {
    exchange<T>(c, x, n, root, nullptr, 0, 0, "gather", limit);
  } else {
    for (int r = 0; r < c.size(); y += count[r++]) {
      if (r == root)
        copy(x, y, n);
      else
        exchange<T>(c, nullptr, 0, 0, y, count[r], r, "gather", limit);
    }
  }
}

/// The reverse; x matters on the root. Payload: all of x on the root, nothing elsewhere.
template <class T>
void scatter_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
               int root, index_t limit = most_per_call<T>) {
  index_t sum = 0;
  for (int r = 0; r < c.size(); ++r) sum += count[r];
  if (c.size() == 1) return copy(x, y, sum);
  if (sum == 0) return;
  prepare(c, "scatter", sum, wire_of<T>);
  const told here(event_kind::scatter, c, c.rank() == root ? sum * wire_of<T>.size : 0);
  const index_t n = count[c.rank()];
  if (sum <= limit) {
    auto& ints = detail::int_arrays::instance(c.size());
    detail::to_int(element<T>::units, count, c.size(), ints.send_count, ints.send_at);
    staged near;
    if (c.rank() == root) x = near.reads(x, sum * wire_of<T>.size);
    y = near.writes(y, n * wire_of<T>.size);
    dimesh::detail::check(
        MPI_Scatterv(x, ints.send_count.data(), ints.send_at.data(), element<T>::type(), y,
                     static_cast<int>(n * element<T>::units), element<T>::type(), root, c.handle()),
        "scatter");
    near.bring();
  } else if (c.rank() != root) {
    exchange<T>(c, nullptr, 0, 0, y, n, root, "scatter", limit);
  } else {
    for (int r = 0; r < c.size(); x += count[r++]) {
      if (r == root)
        copy(x, y, n);
      else
        exchange<T>(c, x, count[r], r, nullptr, 0, 0, "scatter", limit);
    }
  }
}

}  // namespace dimesh::collective
