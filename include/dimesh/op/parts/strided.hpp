// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do some elements of a dim, every so many, become those of another tensor, where they lie
// every so many, too? One operation, which is its own transpose with the ends exchanged: slices,
// padding, reversed dims, places in a concatenation.
//
//   strided_op<T>{{2, 3, 0, 1, 4}, ...}     y[.., k, ..] = x[.., 2 + 3 k, ..] for k < 4
#pragma once

#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/apply_rule.hpp"

namespace dimesh::detail {

/// Element to + k to_step of the result is element from + k from_step, for k < count.
struct strided {
  index_t from = 0, from_step = 1, to = 0, to_step = 1, count = 0;

  constexpr strided turned() const { return {to, to_step, from, from_step, count}; }
};

/// Copies elements along dim `from` of a block x to those along dim `to` of y, and all of the other
/// dims, which both have. Either may be null, where a tensor is one slice of the other.
template <class T>
void copy_strided(const strided& w, const dim_facts* from, const dim_facts* to,
                  const tensor_core& x, tensor_core& y) {
  const int here = from != nullptr ? x.facts->place_of(from) : -1;
  const int there = to != nullptr ? y.facts->place_of(to) : -1;
  const index_t x_step = here < 0 ? 0 : x.stride(here), y_step = there < 0 ? 1 : y.stride(there);
  index_t extent[max_dims + 1], x_stride[max_dims + 1], y_stride[max_dims + 1];
  int rank = 0;
  const auto add = [&](index_t n, index_t along_x, index_t along_y) {
    extent[rank] = n, x_stride[rank] = along_x, y_stride[rank++] = along_y;
  };
  for (int d = 0; d < y.rank(); ++d)
    if (d == there)
      add(w.count, x_step * w.from_step, y_step * w.to_step);
    else
      add(y.local(d), x.stride(x.facts->place_of(y.facts->dim[d])), y.stride(d));
  for (int d = 0; d < rank; ++d)
    if (extent[d] == 0) return;
  local::copy_box(rank, extent, x.data<const T>() + w.from * x_step, x_stride,
                  y.data<T>() + (there < 0 ? 0 : w.to * y_step), y_stride);
}

/// Elements of dim `from`, in a dim `to` of so many elements; those that come from nowhere are
/// `around`. Without `from` the operand is one element along `to`, without `to` the result is one.
template <class T> struct strided_op {
  strided moved;
  const dim_facts* from = nullptr;
  const dim_facts* to = nullptr;
  index_t extent = 1;
  T around{};
  std::string_view call = "slice";
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* d) const {
    return to != nullptr && same_dim(d, to) ? extent : dynamic;
  }
  void fill(results y, operands x) const {
    if (moved.count < extent) {
      const index_t n[] = {y[0].elements()}, step[] = {1};
      local::fill_box(1, n, around, y[0].data<T>(), step);
    }
    copy_strided<T>(moved, from, to, x[0], y[0]);
  }
  constexpr void cost(tally& t, results y, operands) const {
    const index_t bytes = y[0].bytes();
    t.compute(0, bytes + (extent == 0 ? 0 : bytes / extent * moved.count));
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& back) const {
    const tensor_core& x = back.x(0);
    const index_t n = from != nullptr ? x.extent(x.facts->place_of(from)) : 1;
    back.give(0, strided_op{moved.turned(), to, from, n, T{}, call}, back.ybar);
  }
};

/// Dims with To in the place of From.
template <class From, class To, class Dims> struct replaced_dims;
template <class From, class To, class... D> struct replaced_dims<From, To, list<D...>> {
  using type = list<std::conditional_t<std::is_same_v<D, From>, To, D>...>;
};

/// Rule of elements of dim From, which is whole, in a dim that is called To.
template <class From, class To> struct strided_rule {
  using named = list<From, To>;
  template <class First> struct dims : replaced_dims<From, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list) {
    constexpr auto &from = facts_of_dim<From>, &to = facts_of_dim<To>;
    const int d = x[0].place_of(&from);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, &from);
    if (!std::is_same_v<From, To> && x[0].place_of(&to) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &to);
    if (const int a = x[0].layout.axis_at(d, 0); a >= 0)
      return blamed(fault_code::dim_is_split, &from, a);
    if (x[0].layout.halo[d].any()) return blamed(fault_code::dim_has_halo, &from);
    return allowed(x[0].layout);
  }
};

/// The same with a number beside the elements: every rank would add it to a sum yet to be made.
template <class Rule> struct beside_number : Rule {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = Rule::of(x, out);
    const int a = x[0].layout.first_partial();
    return o.ok() && a >= 0 ? blamed_axis(fault_code::partial_meets_scalar, a) : o;
  }
};

[[noreturn]] inline void refuse_strided(std::string_view call, const strided& w,
                                        std::string_view dim, index_t n) {
  (words() << call << ": " << w.count << " elements of dim '" << dim << "' from " << w.from
           << " in steps of " << w.from_step << ", which has 0.." << n - 1)
      .raise();
}
/// Throws dimesh::error, in the name of `call`, where elements asked for are not there, or a static
/// extent says another number.
constexpr void require_strided(std::string_view call, const strided& w, std::string_view dim,
                               index_t n) {
  const index_t last = w.from + (w.count - 1) * w.from_step;
  if (w.count < 0 || (w.count > 0 && (w.from < 0 || w.from >= n || last < 0 || last >= n)))
    refuse_strided(call, w, dim, n);
}

}  // namespace dimesh::detail
