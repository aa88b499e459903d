// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/live_bytes.hpp"

using namespace dimesh;
namespace {

using detail::live_bytes;
using detail::tally;

/// What is alive on a tally after `f` has worked with handles to 64 and to 8 bytes.
template <class F> constexpr index_t alive(const F& f) {
  tally t;
  live_bytes a(&t, 64), b(&t, 8);
  f(a, b);
  return t.live;
}
// Counted once, for as long as one handle is there.
static_assert(alive([](auto&, auto&) {}) == 72);
static_assert(alive([](auto& a, auto&) { const live_bytes copy(a); }) == 72);
static_assert(alive([](auto& a, auto& b) { a = b; }) == 8);
static_assert(alive([](auto& a, auto& b) { a = static_cast<live_bytes&&>(b); }) == 8);
static_assert(alive([](auto& a, auto&) { a = live_bytes{}; }) == 8);
static_assert(alive([](auto& a, auto&) {
                live_bytes moved(static_cast<live_bytes&&>(a));
                a = moved;
              }) == 72);
// What is pinned stays, though nobody holds it.
static_assert(alive([](auto& a, auto&) {
                a.pin();
                a = live_bytes{};
              }) == 72);

constexpr bool knows_owners() {
  tally t;
  live_bytes a(&t, 64);
  if (!a.alone()) return false;
  {
    const live_bytes b(a);
    if (a.alone() || b.alone()) return false;
  }
  return a.alone() && !live_bytes{}.alone();
}
static_assert(knows_owners());

// Without a tally there is nothing to count.
static_assert(!live_bytes(nullptr, 64).alone());

constexpr bool all_gone() {
  tally t;
  {
    const live_bytes a(&t, 64);
    const live_bytes b(&t, 32);
  }
  return t.live == 0 && t.peak == 96;
}
static_assert(all_gone());

}  // namespace
