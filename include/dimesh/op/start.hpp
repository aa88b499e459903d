// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a rank compute while its data travel? Movers have a form that begins and returns: a
// started<X> (core/started.hpp), which `await` turns into what the mover gives. Rules, faults and
// texts are those of the mover.
//
//   auto coming = start_all_gather<cols>(w);
//   ...                                        // what does not need it
//   auto y = einsum<batch, label>(x, await(std::move(coming)));
//
// All ranks along the axes start their moves in one order (blocking calls among them): so MPI knows
// what belongs together, however many are on their way, and they may be awaited in any order. What
// is recorded is recorded at the await.
#pragma once

#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/all_to_all.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/exchange.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/parts/start.hpp"
#include "dimesh/op/permute_along.hpp"
#include "dimesh/op/place.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/relayout_across.hpp"
#include "dimesh/op/send.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/whole.hpp"

namespace dimesh {

/// Begins all_reduce<A...>(x). Sums may round otherwise than those of the blocking call: MPI's
/// algorithms differ.
template <class... A, class X> constexpr auto start_all_reduce(const X& x) {
  return all_reduce<A...>(detail::to_start(x));
}
/// Begins complete(x) of a tensor. What is partial in several ways (sums, maxima, minima) is joined
/// at once in all but the last. Sums may round otherwise than those of the blocking call.
template <class X> constexpr auto start_complete(const X& x) {
  return complete(detail::to_start(x));
}
/// Begins all_gather<A>(x).
template <class A, class X> constexpr auto start_all_gather(const X& x) {
  return all_gather<A>(detail::to_start(x));
}
/// Begins whole<D>(x).
template <class D, class X> constexpr auto start_whole(const X& x) {
  return whole<D>(detail::to_start(x));
}
/// Begins reduce_scatter<D, A>(x). Sums may round otherwise than those of the blocking call.
template <class D, class A, class X> constexpr auto start_reduce_scatter(const X& x) {
  return reduce_scatter<D, A>(detail::to_start(x));
}
/// Begins all_to_all<From, To, A>(x).
template <class From, class To, class A, class X> constexpr auto start_all_to_all(const X& x) {
  return all_to_all<From, To, A>(detail::to_start(x));
}
/// Begins broadcast<A>(x), or broadcast<A>(x, root) of what is replicated.
template <class A, class X> constexpr auto start_broadcast(const X& x) {
  return broadcast<A>(detail::to_start(x));
}
template <class A, class X> constexpr auto start_broadcast(const X& x, int root) {
  return broadcast<A>(detail::to_start(x), root);
}
/// Begins send<A, K>(x), or send<A, J, K>(x). Between two ranks messages arrive in the order in
/// which they were begun, blocking ones among them.
template <class A, index_t K, class X> constexpr auto start_send(const X& x) {
  return send<A, K>(detail::to_start(x));
}
template <class A, index_t J, index_t K, class X> constexpr auto start_send(const X& x) {
  return send<A, J, K>(detail::to_start(x));
}
/// Begins reduce<A, K>(x). Sums may round otherwise than those of the blocking call.
template <class A, index_t K, class X> constexpr auto start_reduce(const X& x) {
  return reduce<A, K>(detail::to_start(x));
}
/// Begins exchange<L>(x).
template <class L, class X> constexpr auto start_exchange(const X& x) {
  return exchange<L>(detail::to_start(x));
}
/// Begins the last step of relayout<L>(x); the steps before it (cuts, sums) are made at once.
template <class L, class X> constexpr auto start_relayout(const X& x) {
  return relayout<L>(detail::to_start(x));
}
/// Begins relayout<L>(x, where), to another grid; of a probe, to memory of another kind, and of
/// more elements than one MPI call counts, it is made at once.
template <class L, class X, class Where>
constexpr auto start_relayout(const X& x, const Where& where) {
  return relayout<L>(detail::to_start(x), where);
}
/// Begins halo_exchange<W, D...>(x, ends). Along several dims the messages of a dim follow those of
/// the dim before it, at ready() and await.
template <index_t W, class... D, class X>
constexpr auto start_halo_exchange(const X& x, boundary ends = boundary::zero) {
  return halo_exchange<W, D...>(detail::to_start(x), ends);
}
/// Begins halo_exchange<halo<D, before, after>...>(x, ends).
template <class... H, class X>
constexpr auto start_halo_exchange(const X& x, boundary ends = boundary::zero) {
  return halo_exchange<H...>(detail::to_start(x), ends);
}
/// Begins shift<D>(x, k, ends).
template <class D, class X>
constexpr auto start_shift(const X& x, index_t k, boundary ends = boundary::periodic) {
  return shift<D>(detail::to_start(x), k, ends);
}
/// Begins permute_along<A>(x, perm).
template <class A, class X, class Perm>
constexpr auto start_permute_along(const X& x, const Perm& perm) {
  return permute_along<A>(detail::to_start(x), perm);
}

}  // namespace dimesh
