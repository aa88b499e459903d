// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program move the same tensor again and again? Movers have a form that finds out once
// what there is to find out, and keeps it: a persistent<X, Y> (core/persistent.hpp), which owns its
// operand and its result. Rules, faults and texts are those of the mover.
//
//   auto edges = persistent_halo_exchange<1, row>(u);
//   for (...) step(edges.run(), edges.operand());
//
// Nothing is communicated when a move is made. All ranks that take part in it make it at the same
// point of the program, and run it, or start it, in one order with all other calls. Messages
// (halos, shifts, permutations, sends) go by persistent requests of MPI; collectives by its plain
// calls: persistent ones would have all ranks begin anew where the memory of one has moved.
#pragma once

#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/all_to_all.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/exchange.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/parts/repeat.hpp"
#include "dimesh/op/permute_along.hpp"
#include "dimesh/op/place.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/send.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/whole.hpp"

namespace dimesh {

/// all_reduce<A...>(x), again and again.
template <class... A, class X> auto persistent_all_reduce(X x) {
  return detail::as_move(all_reduce<A...>(detail::to_repeat(x)));
}
/// all_gather<A>(x), again and again.
template <class A, class X> auto persistent_all_gather(X x) {
  return detail::as_move(all_gather<A>(detail::to_repeat(x)));
}
/// whole<D>(x), again and again.
template <class D, class X> auto persistent_whole(X x) {
  return detail::as_move(whole<D>(detail::to_repeat(x)));
}
/// reduce_scatter<D, A>(x), again and again.
template <class D, class A, class X> auto persistent_reduce_scatter(X x) {
  return detail::as_move(reduce_scatter<D, A>(detail::to_repeat(x)));
}
/// all_to_all<From, To, A>(x), again and again.
template <class From, class To, class A, class X> auto persistent_all_to_all(X x) {
  return detail::as_move(all_to_all<From, To, A>(detail::to_repeat(x)));
}
/// broadcast<A>(x), or broadcast<A>(x, root) of what is replicated, again and again.
template <class A, class X> auto persistent_broadcast(X x) {
  return detail::as_move(broadcast<A>(detail::to_repeat(x)));
}
template <class A, class X> auto persistent_broadcast(X x, int root) {
  return detail::as_move(broadcast<A>(detail::to_repeat(x), root));
}
/// send<A, K>(x), or send<A, J, K>(x), again and again.
template <class A, index_t K, class X> auto persistent_send(X x) {
  return detail::as_move(send<A, K>(detail::to_repeat(x)));
}
template <class A, index_t J, index_t K, class X> auto persistent_send(X x) {
  return detail::as_move(send<A, J, K>(detail::to_repeat(x)));
}
/// reduce<A, K>(x), again and again.
template <class A, index_t K, class X> auto persistent_reduce(X x) {
  return detail::as_move(reduce<A, K>(detail::to_repeat(x)));
}
/// exchange<L>(x), again and again.
template <class L, class X> auto persistent_exchange(X x) {
  return detail::as_move(exchange<L>(detail::to_repeat(x)));
}
/// halo_exchange<W, D...>(x, ends), again and again.
template <index_t W, class... D, class X>
auto persistent_halo_exchange(X x, boundary ends = boundary::zero) {
  return detail::as_move(halo_exchange<W, D...>(detail::to_repeat(x), ends));
}
/// halo_exchange<halo<D, before, after>...>(x, ends), again and again.
template <class... H, class X> auto persistent_halo_exchange(X x, boundary ends = boundary::zero) {
  return detail::as_move(halo_exchange<H...>(detail::to_repeat(x), ends));
}
/// shift<D>(x, k, ends), again and again.
template <class D, class X>
auto persistent_shift(X x, index_t k, boundary ends = boundary::periodic) {
  return detail::as_move(shift<D>(detail::to_repeat(x), k, ends));
}
/// permute_along<A>(x, perm), again and again.
template <class A, class X, class Perm> auto persistent_permute_along(X x, const Perm& perm) {
  return detail::as_move(permute_along<A>(detail::to_repeat(x), perm));
}

}  // namespace dimesh
