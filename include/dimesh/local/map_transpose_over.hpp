// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the inputs of map_over receive when cotangents flow back? ybar times the derivative of f,
// summed over what an input lacks, in code that neither layouts nor the choice of inputs make anew.
//
//   loops<3> l{2, {256, 1024}, {{1024, 1}, {1024, 1}, {0, 1}}};
//   map_transpose_over(l, f, ybar, {hbar, bbar}, h, b);   // bbar[j] = sum_i ybar[i, j] df/db
//
// Where no direct kernel fits (pull_blocks.hpp), compilers may fuse other products with sums than
// they do where one does: the last place may depend on how arrays lie.
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pull_halves.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/local/rounded_sums.hpp"

#include <optional>

namespace dimesh::local {

namespace detail {

/// deposit::write for all, but for the second real input.
template <deposit Second, int... K>
using deposits_with = std::integer_sequence<deposit, (K == 1 ? Second : deposit::write)...>;

template <unsigned Mask, class F, class B, class... X, int... K>
constexpr pull_kernels kernels_of_pullback(std::integer_sequence<int, K...>) {
  using reals = real_inputs<Mask, X...>;
  using T = typename reals::value;
  static_assert(reals::count <= max_reals, "dimesh: map has taken fewer operands");
  pull_kernels k{pull_direct<Mask, deposits_with<deposit::write, K...>, F, B, X...>::run,
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr,
                 pull_partials<Mask, F, X...>::run,
                 reals::inputs,
                 reals::count,
                 {reals::place(K)...},
                 static_cast<int>(sizeof(T)),
                 constant_row<T, 0>.data(),
                 constant_row<T, 1>.data(),
                 std::is_same_v<B, T> ? nullptr : widen_row<B, T>,
                 {std::is_same_v<T, typename types<X...>::template type<reals::place(K)>>...},
                 {deposits<T, typename types<X...>::template type<reals::place(K)>>::write...},
                 {deposits<T, typename types<X...>::template type<reals::place(K)>>::sum...},
                 {deposits<T, typename types<X...>::template type<reals::place(K)>>::add...}};
  if constexpr (reals::count == 2 || reals::count == 3) {
    k.second_added = pull_direct<Mask, deposits_with<deposit::add, K...>, F, B, X...>::run;
  }
  // Where one input is masked, it alone is wanted; otherwise the run may want the first alone.
  if constexpr (reals::inputs > 1 && reals::count == 1)
    k.first_only = k.written;
  else if constexpr (Mask == ~0u && reals::count > 1)
    k.first_only = pull_first<Mask, false, F, B, X...>::run;
  if constexpr (reals::inputs == 2 && (reals::count == 1 || Mask == ~0u))
    k.first_only_still = pull_first<Mask, true, F, B, X...>::run;
  if constexpr (reals::count == 2) {
    k.second_summed = pull_direct<Mask, deposits_with<deposit::sum, K...>, F, B, X...>::run;
  }
  return k;
}

/// The longest group along which all wanted cotangents move; -1 if there is none.
inline int cut_of_pullback(const array_loops& l, int first_bar) {
  int best = -1;
  for (int g = 0; g < l.groups; ++g) {
    bool shared = true;
    for (int a = first_bar; a < l.arrays; ++a)
      shared = shared && (l.at[a] == nullptr || l.stride[a][g] != 0);
    if (shared && (best < 0 || l.extent[g] > l.extent[best])) best = g;
  }
  return best;
}

/// The cotangent of real input K at one position, as a function of y's cotangent and the inputs.
template <unsigned Mask, int K, class F, class... X> struct one_cotangent {
  using reals = real_inputs<Mask, X...>;
  F f;
  template <class G, class... V> KOKKOS_FUNCTION auto operator()(G g, V... x) const {
    return give(g, std::make_integer_sequence<int, reals::inputs>{}, x...);
  }

 private:
  template <class G, int... J, class... V>
  KOKKOS_FUNCTION auto give(G g, std::integer_sequence<int, J...>, V... x) const {
    using T = typename reals::value;
    return static_cast<T>(g) *
           partial_of<0, T>(f(seeded < dual<T, 1>, reals::slot(J) == K ? 0 : -1 > (x)...));
  }
};

/// The loops of a cotangent of input j, y's cotangent and the inputs.
template <int N> loops<N + 1> with_bar_of(const loops<N>& l, int j) {
  loops<N + 1> to;
  to.groups = l.groups;
  for (int g = 0; g < l.groups; ++g) {
    to.extent[g] = l.extent[g];
    to.stride[0][g] = l.stride[1 + j][g];
    for (int k = 0; k < N; ++k) to.stride[1 + k][g] = l.stride[k][g];
  }
  return to;
}

/// On a device: one reduction for each wanted input.
template <unsigned Mask, class Space, class F, class B, class... X, int... K>
void pull_back_parts(const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f, const B* ybar,
                     const std::array<void*, sizeof...(X)>& bars, std::integer_sequence<int, K...>,
                     const X*... x) {
  const dimesh::detail::writes_memory kernel;
  using reals = real_inputs<Mask, X...>;
  const auto one = [&]<int R>(std::integral_constant<int, R>) {
    using Bar = typename types<X...>::template type<reals::place(R)>;
    void* to = bars[static_cast<std::size_t>(reals::place(R))];
    if (to == nullptr) return;
    map_reduce_over<Space>(plus{}, with_bar_of(l, reals::place(R)),
                           one_cotangent<Mask, R, F, X...>{f}, static_cast<Bar*>(to), ybar, x...);
  };
  (one(std::integral_constant<int, K>{}), ...);
}

/// The cotangents of the real inputs on a host: sums of bfloat16 are formed beside their places.
template <class X> class bar_place {
 public:
  bar_place(void* to, index_t size, bool is_sum) : to_(to) {
    if constexpr (is_storage_only<X>) {
      if (to != nullptr && is_sum) sums_.emplace(static_cast<X*>(to), size);
    }
    if (to != nullptr && is_sum)
      std::fill_n(static_cast<computed<X>*>(data()), size, computed<X>{});
    bytes_ = static_cast<int>(is_sum ? sizeof(computed<X>) : sizeof(X));
  }
  void* data() const { return sums_ ? static_cast<void*>(sums_->data()) : to_; }
  int bytes() const { return bytes_; }
  void finish() const {
    if (sums_) sums_->finish();
  }

 private:
  void* to_;
  int bytes_;
  std::optional<dimesh::detail::rounded_sums<X>> sums_;
};

template <int N> index_t size_of_array(const loops<N>& l, int k, bool& lacks) {
  index_t n = 1;
  for (int g = 0; g < l.groups; ++g) {
    lacks = lacks || l.stride[k][g] == 0;
    n *= l.stride[k][g] != 0 ? l.extent[g] : 1;
  }
  return n;
}

template <class X, int N> bar_place<X> bar_place_of(const loops<N>& l, int k, void* to) {
  bool lacks = false;
  const index_t n = size_of_array(l, k, lacks);
  return {to, n, lacks};
}

template <unsigned Mask, class Space, class F, class B, class... X, int... K>
void pull_back_host(const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f, const B* ybar,
                    const std::array<void*, sizeof...(X)>& bars, std::integer_sequence<int, K...>,
                    const X*... x) {
  const dimesh::detail::writes_memory kernel;
  using reals = real_inputs<Mask, X...>;
  constexpr int first_bar = 1 + reals::inputs;
  static_assert(first_bar + reals::count <= max_arrays, "dimesh: map has taken fewer operands");
  dimesh::detail::bundle_of<bar_place<typename types<X...>::template type<reals::place(K)>>...> to{
      {bar_place_of<typename types<X...>::template type<reals::place(K)>>(
          l, 1 + reals::place(K), bars[static_cast<std::size_t>(reals::place(K))])}...};
  if (l.size() > 0) {
    static constexpr pull_kernels k =
        kernels_of_pullback<Mask, F, B, X...>(std::make_integer_sequence<int, reals::count>{});
    array_loops all(l, ybar, x...);
    index_t stride[max_arrays][max_dims];
    for (int a = 0; a < first_bar + reals::count; ++a) {
      const int from = a < first_bar ? a : 1 + k.place[a - first_bar];
      for (int g = 0; g < l.groups; ++g) stride[a][g] = l.stride[from][g];
    }
    all.stride = stride;
    all.arrays = first_bar + reals::count;
    ((all.at[first_bar + K] = static_cast<std::byte*>(item<K>(to).data()),
      all.bytes[first_bar + K] = item<K>(to).bytes()),
     ...);
    in_pieces<Space>(
        all, [](const array_loops& a) { return cut_of_pullback(a, first_bar); },
        [&](const array_loops& part) { pull_back_over(part, k, &f); });
  }
  (item<K>(to).finish(), ...);
}

}  // namespace detail

/// Writes the cotangents of inputs of y = f(x...): bars[k] has the type and the strides of input k,
/// which is a real number; null: not wanted. Nothing may overlap a cotangent. f is called with dual
/// numbers for those inputs of the mask that are real numbers; others are not wanted. ybar is
/// contiguous and has every group.
template <unsigned Mask = ~0u, class Space = default_space, class F, class B, class... X>
void map_transpose_over(const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f,
                        const B* ybar, const std::array<void*, sizeof...(X)>& bars, const X*... x) {
  static_assert(detail::is_stageable<B> && (detail::is_stageable<X> && ...),
                "dimesh: map has taken other elements");
  constexpr int reals = detail::real_inputs<Mask, X...>::count;
  static_assert(reals > 0, "dimesh: no input is a real number, so none has a cotangent");
  constexpr auto variables = std::make_integer_sequence<int, reals>{};
  if constexpr (reals > 0 && detail::runs_on_host<Space>) {
    detail::pull_back_host<Mask, Space>(l, f, ybar, bars, variables, x...);
  } else if constexpr (reals > 0) {
    if (detail::moves_to_host<Space>())
      return map_transpose_over<Mask, host_space>(l, f, ybar, bars, x...);
    detail::pull_back_parts<Mask, Space>(l, f, ybar, bars, variables, x...);
  }
}

}  // namespace dimesh::local
