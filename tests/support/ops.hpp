// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do tests of typing rules and costs share? A few dims, a mesh, and the cost of a call on
// shapes.
//
//   bytes([](const auto& v) { return dm::all_reduce<cols>(v); }, X<float, L<dm::partial<cols>>,
//     batch>{})
#pragma once

#include "dimesh/shaped.hpp"

namespace test_support::ops {

namespace dm = dimesh;
using std::is_same_v;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<12> {};
struct label : dm::dim<5> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<4> {};
struct lone : dm::axis<1> {};
struct pod : dm::mesh<rows, cols, lone> {};
struct alien : dm::axis<2> {};

template <class... Rule> using L = dm::layout<pod, Rule...>;
template <class T, class Layout, class... D> using X = dm::tensor<T, dm::shaped<Layout>, D...>;

/// What f(x) costs the rank at the origin.
template <class F, class V> constexpr dm::ledger<pod> cost_of_call(const F& f, const V& v) {
  dm::ledger<pod> l;
  (void)f(v.counted_by(&l.counts));
  return l;
}
template <class F, class V> constexpr dm::index_t bytes(const F& f, const V& v) {
  return cost_of_call(f, v).template bytes<>();
}
template <class F, class V> constexpr dm::index_t ring_bytes(const F& f, const V& v) {
  return cost_of_call(f, v).template ring_bytes<>();
}
template <class F, class V> constexpr dm::index_t calls(const F& f, const V& v) {
  return cost_of_call(f, v).template calls<>();
}

}  // namespace test_support::ops
