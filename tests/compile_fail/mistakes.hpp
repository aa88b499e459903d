// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tensors and structs do short mistakes meet? Nothing is linked, so that declarations do.
#pragma once

#include <string>
#include <vector>

#include "names.hpp"

struct length : dm::dim<> {};
struct north : dm::dim<8> {};
struct east : dm::dim<8> {};
struct depth : dm::axis<2> {};
struct line : dm::mesh<rows> {};
using tiles = dm::layout<pod, dm::split<north, rows>, dm::split<east, cols>>;

template <class L, class... D> using T = dm::tensor<float, L, D...>;
using X = T<by_batch, batch, hidden>;
extern X x;
extern const X cx;
extern T<whole, batch, hidden> xw;
extern T<hybrid, batch, hidden> xh;
extern T<by_batch, hidden, label> w;
extern T<hybrid, hidden, label> wh;
extern T<by_batch, hidden> b;
extern T<by_batch, label> bl;
extern T<hybrid, label> bh;
extern T<by_batch, batch, label> y, logits;
extern dm::tensor<std::int32_t, by_batch, batch> ids;
extern T<tiles, north, east> u;
extern const dm::grid<pod>& g;
extern dm::random_key key;

template <class L> struct net {
  BOOST_HANA_DEFINE_STRUCT(net, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};
template <class L> struct other_net {
  BOOST_HANA_DEFINE_STRUCT(other_net, (dm::tensor<float, L, label>, b),
                           (dm::tensor<float, L, hidden, label>, w));
};
extern net<by_batch> p, done;
extern net<dm::gradient<by_batch>> grad;
extern other_net<by_batch> q;
inline constexpr auto loss = [](const auto& p, const auto& x) {
  return dm::mean(dm::square(dm::einsum<batch, label>(x, p.w) + p.b));
};
struct mean_of {
  template <class V> constexpr auto operator()(const V& v) const { return dm::mean(v); }
};
