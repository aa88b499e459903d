// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is one of several classes drawn, with the probabilities that logits say? Each class gets its
// logit and a random number of its own, and the greatest sum wins (the Gumbel-max trick; Maddison,
// Tarlow, Minka: A* sampling, NIPS 2014, section 2). Random numbers are keyed by the global index
// in the logits, so that the classes drawn are the same under every layout. Local.
//
//   categorical<label>(key, logits[batch/rows, label])  -> tensor<std::int32_t, L, batch/rows>
//
// Over ranks that split the dim: categorical_all_gather.hpp.
#pragma once

#include "dimesh/op/argmax.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/random/distributions.hpp"
#include "dimesh/random/places.hpp"

namespace dimesh {

namespace detail {

/// sum (count) = elements first .. first + count, x (count), and a Gumbel number for each.
template <class T>
void disturb(const random_key& key, const block_places& where, index_t first, index_t count,
             const T* x, double* sum) {
  const writes_memory kernel;
  const random_key k = key;
  constexpr int tile = drawn_at_once;
  index_t at[tile] = {};
  double noise[tile];
  for (index_t done = 0; done < count; done += tile) {
    const index_t n = count - done < tile ? count - done : index_t{tile};
    where.of(first + done, n, at);
#pragma omp simd
    for (int j = 0; j < tile; ++j) noise[j] = -elementary::log(draw_exponential(k, at[j]));
    for (index_t j = 0; j < n; ++j) sum[done + j] = static_cast<double>(x[done + j]) + noise[j];
  }
}

/// Classes along dim d of logits T.
template <class T> struct categorical_op {
  static constexpr bool on_host = true;
  int d;
  random_key key;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(3 * x[0].elements(), x[0].bytes() + y[0].bytes());
  }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    index_t outer = 1, inner = 1;
    for (int i = 0; i < d; ++i) outer *= x.local(i);
    for (int i = d + 1; i < x.rank(); ++i) inner *= x.local(i);
    const index_t n = x.local(d), row = n * inner;
    const index_t at_once = row > most_at_once ? 1 : most_at_once / (row > 0 ? row : 1);
    const storage sums = storage::acquire(
        static_cast<std::size_t>((outer < at_once ? outer : at_once) * row) * sizeof(double));
    double* const sum = static_cast<double*>(sums.data());
    const block_places where(x);
    std::int32_t* const out = y[0].data<std::int32_t>();
    for (index_t o = 0; o < outer; o += at_once) {
      const index_t rows = outer - o < at_once ? outer - o : at_once;
      disturb(key, where, o * row, rows * row, x.data<const T>() + o * row, sum);
      local::argmax(rows, n, inner, static_cast<const double*>(sum), out + o * inner);
    }
  }

 private:
  static constexpr index_t most_at_once = 1 << 14;
};

/// As of argmax, and no halos along other dims: their elements would be drawn twice.
template <class D> struct categorical_rule : argmax_rule<D> {
  static constexpr outcome of(rule_operands x, dim_list out) {
    const outcome o = argmax_rule<D>::of(x, out);
    if (!o.ok()) return o;
    const dim_facts* const haloed = haloed_dim(x[0]);
    return haloed == nullptr ? o : blamed(fault_code::dim_has_halo, haloed);
  }
};

template <class D, class X> constexpr auto categorical_of(random_key key, const X& x) {
  require_few_places<D>("categorical", x.template extent<D>());
  return apply_rule<categorical_rule<D>, std::int32_t>(
      categorical_op<value_of<X>>{index_of<D, typename spec_of<X>::dims>, key}, x);
}

}  // namespace detail

/// A class along D for all places of the other dims, drawn with probability exp(logit) over the sum
/// of exp(logits); -1 if D is empty. A logit of -inf is never drawn beside others, a NaN always.
/// Shapes: x without D, int32. Costs a logarithm of a logarithm for each logit; local. Throws
/// dimesh::error where D has more elements than int32 can number.
template <Dim D, Operand X> constexpr auto categorical(random_key key, const X& x) {
  using fault = detail::fault_of<detail::categorical_rule<D>, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "categorical: the logits lack this dim; name one of their own dims");
  static_assert(ok<only<fault, dim_is_split>>,
                "categorical: the dim is split, and a rank sees its block only; take "
                "categorical_all_gather, or gather it with whole<dim> first");
  static_assert(ok<only<fault, partial_operand>>,
                "categorical: the logits are a sum yet to be made; complete it first");
  static_assert(ok<only<fault, element_is_complex>>,
                "categorical: logits are real, and these are complex; take real(x) or norm2(x)");
  static_assert(ok<only<fault, dim_has_halo>>,
                "categorical: the blocks carry halos; take the tensor without them");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else if constexpr (is_storage_only<value_of<X>>)
    return detail::categorical_of<D>(key, cast<computed<value_of<X>>>(x));
  else
    return detail::categorical_of<D>(key, x);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using categorical_call = call_taking<one_dim, 2, random_key, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::categorical_call, detail::list<N...>, A...>
constexpr poison categorical(const A&...) {
  static_assert(ok<detail::misuse<detail::categorical_call, detail::list<N...>, A...>>,
                "categorical: a dim stands in the angle brackets, a key and then logits in the "
                "parentheses: categorical<label>(key, x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison categorical(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "categorical: a dim stands in the angle brackets, a key and then logits in the "
                "parentheses: categorical<label>(key, x)");
  return {};
}

}  // namespace dimesh
