// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the places of a dim put in a random order, the same one for all other dims? By a keyed
// permutation (random/permutation.hpp) of a dim that is whole. Local copies; the gradient goes back
// where it came from.
//
//   shuffle<batch>(key, x[batch, hidden/cols])   -> row i is row order(i) of x
//
// Along a dim that ranks split: shuffle_exchange.hpp.
#pragma once

#include "dimesh/local/gather.hpp"
#include "dimesh/op/parts/strided.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/random/permutation.hpp"

namespace dimesh {

namespace detail {

/// to[i] = the number at place i, or the place of number i.
struct numbers_at {
  random_permutation order;
  bool back;
  index_t* to;

  KOKKOS_FUNCTION void operator()(index_t i) const {
    const writes_memory kernel;
    to[i] = back ? order.inverse(i) : order(i);
  }
};

/// Elements T, along dim d: place i gets what is at place order(i), or back.
template <class T> struct shuffle_op {
  int d;
  random_key key;
  bool back = false;
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  void fill(results y, operands in) const {
    const tensor_core& x = in[0];
    const index_t n = x.local(d), inner = x.stride(d);
    if (x.elements() == 0) return;
    const storage table = storage::acquire(static_cast<std::size_t>(n) * sizeof(index_t));
    auto* const from = static_cast<index_t*>(table.data());
    local::for_each_index<local::default_space>(n, numbers_at{{key, n}, back, from});
    local::move_places({x.elements() / (n * inner), n, n, n, inner}, from, nullptr,
                       x.data<const T>(), y[0].data<T>());
  }
  constexpr void transpose(const auto& to) const { to.give(0, shuffle_op{d, key, !back}, to.ybar); }
};

}  // namespace detail

/// x with the places of D in a random order that the key says. Shapes stay. Local.
template <Dim D, Operand X> constexpr auto shuffle(random_key key, const X& x) {
  using rule = detail::strided_rule<D, D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "shuffle: the tensor lacks the dim to be shuffled; name one of its dims");
  static_assert(
      ok<only<fault, dim_is_split>>,
      "shuffle: needs the whole dim, and it is split; take shuffle_exchange<dim>, or whole<dim> it "
      "first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "shuffle: the blocks of the dim carry halos; shuffle it before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(
        detail::shuffle_op<value_of<X>>{detail::index_of<D, typename spec_of<X>::dims>, key}, x);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using shuffle_call = call_taking<one_dim, 2, random_key, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::shuffle_call, detail::list<N...>, A...>
constexpr poison shuffle(const A&...) {
  static_assert(ok<detail::misuse<detail::shuffle_call, detail::list<N...>, A...>>,
                "shuffle: a dim stands in the angle brackets, a key and then a tensor in the "
                "parentheses: shuffle<sample>(key, x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison shuffle(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "shuffle: a dim stands in the angle brackets, a key and then a tensor in the "
                "parentheses: shuffle<sample>(key, x)");
  return {};
}

}  // namespace dimesh
