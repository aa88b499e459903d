// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the greatest element of each window of a tensor, or the mean? Windows move as those of a
// convolution; padding counts in neither.
//
//   using v = pool_window<height, high>;  using h = pool_window<width, across>;
//   max_pool(x[batch/rows, height, width, in], v{.size = 2}, h{.size = 2})
//     -> [batch/rows, high, across, in]                 windows side by side
//   mean_pool(x, v{.size = 3, .stride = 2, .around = padding::same}, h{.size = 2})
//
// Local: the dims of windows are whole on each rank (split ones: pooling_exchange.hpp); all others
// may lie in any way, without halos.
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pooling.hpp"
#include "dimesh/op/parts/pooled_windows.hpp"
#include "dimesh/op/refusals/misuse_of_pooling.hpp"

namespace dimesh {

/// A window of `size` elements over dim From, dilation apart; results lie along To, which may be
/// From where the extent stays. Result o sees elements stride o + dilation t - before, t < size.
template <Dim From, Dim To = From> struct pool_window {
  index_t size = 2;
  index_t stride = 0;  // 0: windows lie side by side, in steps of `size`
  index_t dilation = 1;
  padding around = padding::valid;

  using from = From;
  using to = To;
};

namespace detail {

/// x, and what lies as results -> what of x the greatest elements are; Back: where they get it.
template <bool Back, class T> struct at_greatest_op {
  static constexpr bool on_host = true;
  pooled_windows w;
  std::string_view call = "max_pool";

  constexpr index_t extent_of(const dim_facts* d) const {
    return w.extent_of(d, Back ? local::window_role::array : local::window_role::result);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const windowed_view v = w.view(x[0], Back ? x[1] : y[0]);
    v.cost(t);
    v.cost(t, Back);
    t.compute(w.meetings(x[0], v) + x[1].elements(), y[0].bytes() + bytes_of(x) + 2 * v.copied());
  }
  void fill(results y, operands in) const {
    const tensor_core& like_results = Back ? in[1] : y[0];
    const windowed_view v = w.view(in[0], like_results);
    const index_t n = like_results.elements();
    const storage places = storage::acquire(static_cast<std::size_t>(n) * sizeof(index_t));
    auto* const at = static_cast<index_t*>(places.data());
    storage room, more_room;
    const T* const x = v.fetch(in[0].data<const T>(), call.data(), room);
    local::pool_places(w.over(in[0], v, like_results), x, at, n);
    if constexpr (Back) {
      T* const sums = v.sums(y[0].data<T>(), more_room);
      add_at(at, n, in[1].data<const T>(), sums, v.here().size());
      v.fold(sums, y[0].data<T>(), call.data());
    } else {
      const T* const from = v.fetch(in[1].data<const T>(), call.data(), more_room);
      const writes_memory kernel;
      for (index_t o = 0; o < n; ++o) y[0].data<T>()[o] = at[o] >= 0 ? from[at[o]] : T(0);
    }
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    to.give(1, at_greatest_op<!Back, T>{w, call}, to.x(0), to.ybar);
  }

 private:
  /// n elements to their places among `size` sums.
  static void add_at(const index_t* at, index_t n, const T* x, T* sums, index_t size) {
    const writes_memory kernel;
    std::fill_n(sums, size, T(0));
    for (index_t o = 0; o < n; ++o)
      if (at[o] >= 0) sums[at[o]] += x[o];
  }
};

template <class T> struct max_pool_op {
  static constexpr bool on_host = true;
  pooled_windows w;
  std::string_view call = "max_pool";
  bool beside = false;

  constexpr index_t extent_of(const dim_facts* d) const {
    return w.extent_of(d, local::window_role::result);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const windowed_view v = w.view(x[0], y[0]);
    v.cost(t);
    t.compute(w.meetings(x[0], v), y[0].bytes() + x[0].bytes() + v.copied());
  }
  void fill(results y, operands x) const {
    w.join(x[0], y[0], local::greatest::identity<T>(), {call, beside},
           [](const local::pooling& p, const T* seen, T* to, index_t n) {
             local::pool_max(p, seen, to, n);
           });
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    to.give(0, at_greatest_op<true, T>{w, call}, to.x(0), to.ybar);
  }
};

/// Means over windows; Back: the transpose.
template <bool Back, class T> struct mean_pool_op {
  static constexpr bool on_host = true;
  pooled_windows w;
  std::string_view call = "mean_pool";
  bool beside = false;

  constexpr index_t extent_of(const dim_facts* d) const {
    return w.extent_of(d, Back ? local::window_role::array : local::window_role::result);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const tensor_core &array = Back ? y[0] : x[0], &means = Back ? x[0] : y[0];
    const windowed_view v = w.view(array, means);
    v.cost(t, Back);
    t.compute(w.meetings(array, v) + means.elements(), y[0].bytes() + x[0].bytes() + v.copied());
  }
  void fill(results y, operands x) const {
    const tensor_core &array = Back ? y[0] : x[0], &means = Back ? x[0] : y[0];
    const windowed_view v = w.view(array, means);
    const local::pooling p = w.over(array, v, means);
    const T* const from = x[0].data<const T>();
    T* const to = y[0].data<T>();
    storage room;
    if constexpr (Back) {
      const auto bytes = static_cast<std::size_t>(x[0].elements()) * sizeof(T);
      const storage shares = storage::acquire(bytes);
      T *const share = static_cast<T*>(shares.data()), *const sums = v.sums(to, room);
      local::divide_by_counts(p, from, share);
      local::pool_sum<true>(p, share, sums, v.here().size());
      v.fold(sums, to, call.data());
    } else {
      w.join(array, y[0], T(0), {call, beside},
             [](const local::pooling& some, const T* seen, T* sums, index_t n) {
               local::pool_sum<false>(some, seen, sums, n);
             });
      local::divide_by_counts(p, to, to);
    }
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, mean_pool_op<!Back, T>{w, call, beside}, to.ybar);
  }
};

/// Dims that windows turn into others.
template <class Dims, class... V> struct pooled_dims {
  using type = Dims;
};
template <class Dims, class V, class... Rest>
struct pooled_dims<Dims, V, Rest...>
    : pooled_dims<typename replaced_dims<typename V::from, typename V::to, Dims>::type, Rest...> {};

/// Rule of windows over dims that are whole (Split: or not); Addends: of sums yet to be made, too.
template <bool Split, bool Addends, class... V> struct pool_rule {
  using named = list<typename V::from..., typename V::to...>;
  static constexpr bool of_reals = !Addends;  // a maximum
  template <class First> struct dims : pooled_dims<First, V...> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (const int a = x[0].layout.first_partial(!Addends); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    if (const dim_facts* const h = haloed_dim(x[0])) return blamed(fault_code::dim_has_halo, h);
    constexpr const dim_facts *from[] = {&facts_of_dim<typename V::from>...},
                              *to[] = {&facts_of_dim<typename V::to>...};
    facts_of_own_dims array = x[0];
    for (int i = 0; i < static_cast<int>(sizeof...(V)); ++i) {
      for (int k = 0; k < i; ++k)
        for (const auto& of : {from, to})
          if (same_dim(of[i], of[k])) return blamed(fault_code::dim_repeated, of[i]);
      if (const outcome o = windowed_dim(x[0], from[i], Split); !o.ok()) return o;
      if (!same_dim(from[i], to[i]) && array.place_of(to[i]) >= 0)
        return blamed(fault_code::dim_already_in_tensor, to[i]);
      array = facts_renamed(array, from[i], to[i]);
    }
    return Split ? laid_out(x[0], out, array.layout) : allowed(x[0].layout);
  }
};

template <class Fault> constexpr void assert_pool() {
  static_assert(
      ok<only<Fault, dim_not_in_tensor>>,
      "max_pool, mean_pool: the tensor lacks the dim of a window; name pool_window<dim of "
      "the tensor, new dim>");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "max_pool, mean_pool: the tensor has a window's new dim already; rename it");
  static_assert(ok<only<Fault, dim_repeated>>,
                "max_pool, mean_pool: two windows go over one dim, or give one; name each dim in "
                "one window");
  static_assert(ok<only<Fault, dim_is_split>>,
                "max_pool, mean_pool: a window needs its dim whole on each rank, and it is split; "
                "take max_pool_exchange or mean_pool_exchange, or whole<dim> it");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "max_pool, mean_pool: blocks of a dim carry halos; take the tensor without them");
  static_assert(ok<only<Fault, partial_operand>>,
                "max_pool, mean_pool: the operand is yet to be joined along an axis (of a mean: an "
                "extreme); complete it first");
  static_assert(ok<only<Fault, element_is_complex>>,
                "max_pool: complex numbers have no order; take real(x) or norm2(x) first");
}

/// Elements that only store are joined in float; means of whole numbers are double.
template <template <class> class Op, class Rule, class X, class... V>
constexpr auto pooled(const window_call& call, const X& x, const V&... v) {
  using T = value_of<X>;
  if constexpr (is_storage_only<T>) {
    return cast<T>(pooled<Op, Rule>(call, cast<computed<T>>(x), v...));
  } else if constexpr (std::is_integral_v<T> && !Rule::of_reals) {
    return pooled<Op, Rule>(call, cast<double>(x), v...);
  } else {
    Op<T> op;
    op.call = call.name, op.beside = call.beside;
    if (!has_assumed_extents(x))
      (op.w.add(call.name, x.template extent<typename V::from>(), v), ...);
    return apply_rule<Rule, T>(op, x);
  }
}
template <class T> using mean_pool_forward = mean_pool_op<false, T>;

}  // namespace detail

/// The greatest element of each window; the lowest value (-inf) of a window with none, NaN if there
/// is one. Shapes: x[.., From, ..] -> [.., To, ..] for every window, at most four; extents as of a
/// convolution. The gradient goes to the first of equals in row-major order. Local. Throws
/// dimesh::error where a dim To of another extent is named, or a window's numbers make no sense.
template <Operand X, Dim... From, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto max_pool(const X& x, const pool_window<From, To>&... windows) {
  using rule = detail::pool_rule<false, false, pool_window<From, To>...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_pool<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pooled<detail::max_pool_op, rule>({"max_pool"}, x, windows...);
}

/// The mean of the elements in each window: padding does not count; 0 where there are none.
/// Integers give double. Shapes and errors as of max_pool; linear: addends stay addends. Local.
template <Operand X, Dim... From, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto mean_pool(const X& x, const pool_window<From, To>&... windows) {
  using rule = detail::pool_rule<false, true, pool_window<From, To>...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_pool<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pooled<detail::mean_pool_forward, rule>({"mean_pool"}, x, windows...);
}

}  // namespace dimesh
