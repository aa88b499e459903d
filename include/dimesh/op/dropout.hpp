// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are elements left out at random, the same ones under every layout? By random bits keyed by
// the global index (random.hpp). Nothing is stored: the backward pass draws the same mask again.
//
//   dropout(0.1, key, x[batch/rows, hidden])  -> like x: zeros, and x / 0.9
#pragma once

#include "dimesh/local/dropout.hpp"
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh {

namespace detail {

/// Calls f(global index of its first element, place in the block, count) for every stretch of the
/// block of x that is contiguous in the row-major order of the whole tensor.
template <class F> void for_each_run(const tensor_core& x, const F& f) {
  const int rank = x.rank();
  const index_t size = x.elements();
  if (size == 0) return;
  index_t step[max_dims + 1];  // step[d + 1]: elements of the whole between neighbours along d
  step[rank] = 1;
  int minor = rank;  // dims from here on are one run
  index_t run = 1;
  bool whole = true;  // all dims behind are
  for (int d = rank - 1; d >= 0; --d) {
    step[d] = step[d + 1] * x.extent(d);
    if (whole) minor = d, run *= x.local(d);
    whole = whole && x.local(d) == x.extent(d);
  }
  const index_t offset = minor < rank ? x.own(minor).offset * step[minor + 1] : 0;
  for (index_t done = 0; done < size; done += run) {
    index_t at = offset, rest = done / run;
    for (int d = minor - 1; d >= 0; --d) {
      at += (x.own(d).offset + rest % x.local(d)) * step[d + 1];
      rest /= x.local(d);
    }
    f(at, done, run);
  }
}

/// Elements T.
template <class T> struct dropout_op {
  static constexpr bool takes_complex = true;
  double rate;
  random_key key;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(y[0].elements(), y[0].bytes() + x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  void fill(results y, operands x) const {
    const local::dropout_mask mask(key, rate);
    for_each_run(x[0], [&](index_t begin, index_t place, index_t count) {
      local::dropout_run(mask, begin, count, x[0].data<const T>() + place, y[0].data<T>() + place);
    });
  }
  constexpr void transpose(const auto& to) const { to.give(0, *this, to.ybar); }
};

/// A linear map of each element, which the run finds by its global index.
struct dropout_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    if (x[0].kind >= element_kind::boolean && x[0].kind <= element_kind::uint64)
      return blamed_place(fault_code::element_not_differentiable, 0);
    if (const int a = x[0].layout.first_partial(false); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    const dim_facts* const haloed = haloed_dim(x[0]);
    return haloed == nullptr ? allowed(x[0].layout) : blamed(fault_code::dim_has_halo, haloed);
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(dropout_op<float>, 0);
DIMESH_INSTANCE(dropout_op<float>, 1);
DIMESH_INSTANCE(dropout_op<double>, 0);
DIMESH_INSTANCE(dropout_op<double>, 1);

}  // namespace detail

/// x with each element 0 with probability `rate`, else divided by 1 - rate (Srivastava et al. 2014,
/// section 10). Shapes stay; a linear map, which addends may pass. The elements left out depend on
/// the key and their global indices alone; a rate of 0 returns x. Throws dimesh::error unless
/// 0 <= rate <= 1.
template <Operand X> constexpr auto dropout(double rate, random_key key, const X& x) {
  using fault = detail::fault_of<detail::dropout_rule, X>;
  static_assert(ok<only<fault, element_not_differentiable>>,
                "dropout: the elements are whole numbers, and what stays is divided by 1 - rate; "
                "cast them to float first");
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
    return detail::apply_rule<detail::dropout_rule, value_of<X>>(
        detail::dropout_op<value_of<X>>{rate, key}, x);
  }
}

}  // namespace dimesh
