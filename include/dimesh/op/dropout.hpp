// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements left out at random, the same ones under every layout? By random bits keyed by
// the global index (random.hpp). Nothing is stored: the backward pass draws the same mask again.
//
//   dropout(0.1, key, x[batch/rows, hidden])  -> like x: zeros, and x / 0.9
#pragma once

#include "dimesh/local/dropout.hpp"
#include "dimesh/op/apply.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh {

namespace detail {

/// Calls f(global index of its first element, place in the block, count) for every stretch of the
/// block of x that is contiguous in the row-major order of the whole tensor.
template <class X, class F> void for_each_run(const X& x, const F& f) {
  constexpr int rank = X::rank;
  if (x.local_size() == 0) return;
  const auto extents = x.shape().extents();
  index_t step[rank + 1];  // step[d + 1]: elements of the whole between neighbours along d
  step[rank] = 1;
  int minor = rank;  // dims from here on are one run
  index_t run = 1;
  bool whole = true;  // all dims behind are
  for (int d = rank - 1; d >= 0; --d) {
    const index_t extent = extents[static_cast<std::size_t>(d)];
    step[d] = step[d + 1] * extent;
    if (whole) minor = d, run *= x.local(d);
    whole = whole && x.local(d) == extent;
  }
  const index_t offset = minor < rank ? x.block(minor).offset * step[minor + 1] : 0;
  for (index_t done = 0; done < x.local_size(); done += run) {
    index_t at = offset, rest = done / run;
    for (int d = minor - 1; d >= 0; --d) {
      at += (x.block(d).offset + rest % x.local(d)) * step[d + 1];
      rest /= x.local(d);
    }
    f(at, done, run);
  }
}

struct dropout_op {
  double rate;
  random_key key;

  template <class S> using result = S;
  template <class Y, class X> constexpr void cost(tally& t, const Y& y, const X& x) const {
    t.compute(y.local_size(), y.local_bytes() + x.local_bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  template <class Y, class X> void fill(Y& y, const X& x) const {
    static_assert(is_on_host<Y>, "dropout: the kernel runs on the host only; use a host space");
    const local::dropout_mask mask(key, rate);
    for_each_run(x, [&](index_t begin, index_t place, index_t count) {
      local::dropout_run(mask, begin, count, x.data() + place, y.data() + place);
    });
  }
  template <bool, class B, class Y, class X>
  constexpr auto transpose(const slots<1>& to, const B& ybar, const Y&, const X&) const {
    return bundle(apply_into(*this, to, ybar));
  }
};

template <class X> struct dropout_fault : over_list_fault<true, X, typename spec_of<X>::dims> {};
template <class X>
  requires is_poison<X>
struct dropout_fault<X> {
  using type = no_fault;
};

}  // namespace detail

/// x with each element 0 with probability `rate`, else divided by 1 - rate (Srivastava et al. 2014,
/// section 10). Shapes stay; a linear map, which addends may pass. The elements left out depend on
/// the key and their global indices alone; a rate of 0 returns x. Throws dimesh::error unless
/// 0 <= rate <= 1.
template <Operand X> constexpr auto dropout(double rate, random_key key, const X& x) {
  using fault = typename detail::dropout_fault<X>::type;
  static_assert(ok<only<fault, partial_operand>>,
                "dropout: the operand is a maximum or minimum yet to be found; complete it first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "dropout: the blocks carry halos; take the tensor without them");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    if (!(rate >= 0 && rate <= 1))
      throw error("dropout: the rate is " + std::to_string(rate) +
                  "; choose a probability between 0 and 1");
    if (rate == 0) return x;
    return apply(detail::dropout_op{rate, key}, x);
  }
}

}  // namespace dimesh
