// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a tensor normalised by the mean and variance of all that shares some of its dims? The
// rule, cost, kernel calls and transpose of batch and group norms (op/batch_norm.hpp). Moments of
// blocks in one pass over memory, joined over ranks by two all-reduces (moments.hpp); on the way
// back one, of two numbers a moment.
//
//   moment_norm_op<float>{1e-5, "batch_norm"}     x, gain, bias -> y; auxiliary: mean, variance,
//                                                 and what the mean lacks for being rounded
#pragma once

#include <algorithm>
#include <cmath>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/moments.hpp"
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/parts/join_rule.hpp"
#include "dimesh/op/parts/loop_plan.hpp"
#include "dimesh/op/parts/moments.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh::detail {

/// Rule of the result: like x[0]; the others are gain and bias. Whole: a rank must hold all that is
/// joined, all dims but Kept...
template <bool Whole, class... Kept> struct moment_norm_rule : keeps_dims {
  using named = list<Kept...>;
  static constexpr bool of_reals = true;
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr dim_list kept = dims_in<named>;
    for (int i = 0; i < kept.size; ++i)
      if (x[0].place_of(kept[i]) < 0) return blamed(fault_code::dim_not_in_tensor, kept[i]);
    if (const int i = kept.repeated(); i >= 0) return blamed(fault_code::dim_repeated, kept[i]);
    for (int k = 1; k < x.count; ++k)
      for (int d = 0; d < x[k].rank; ++d)
        if (x[0].place_of(x[k].dim[d]) < 0)
          return blamed(fault_code::dim_not_in_tensor, x[k].dim[d]);
    for (int k = 0; k < x.count; ++k)
      if (const dim_facts* const d = haloed_dim(x[k]); d != nullptr)
        return blamed(fault_code::dim_has_halo, d);
    for (int d = 0; Whole && d < x[0].rank; ++d)
      if (const int a = x[0].layout.axis_at(d, 0); a >= 0 && !kept.has(x[0].dim[d]))
        return blamed(fault_code::dim_is_split, x[0].dim[d], a);
    const outcome o = join_rule(join_kind::nonlinear, x, out);
    return o.ok() ? allowed(x[0].layout) : o;
  }
};
/// Of mean and variance: the dims Kept..., whole where axes split what is joined.
template <class... Kept> struct moments_rule {
  template <class First, class...> struct dims {
    using type = typename remaining<First, typename remaining<First, list<Kept...>>::type>::type;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    table t = x[0].layout;
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::split && !out.has(x[0].dim[static_cast<int>(t.axis[a].dim)]))
        t.axis[a] = {};
    return allowed(table_over_dims(t, x[0].dims(), out));
  }
};

/// The loops over a block of x, its merged dims, and steps of arrays that lack some of them.
template <int N> class moment_loops {
 public:
  explicit moment_loops(const tensor_core& x) : x_(&x) {}
  /// Array k is y, which has dims of x; null: it does not move.
  void set(int k, const tensor_core* y) {
    for (int d = 0; y != nullptr && d < x_->rank(); ++d)
      if (const int at = y->facts->place_of(x_->facts->dim[d]); at >= 0)
        stride_[k][d] = y->stride(at);
  }
  /// Array k lies in the order of x's dims and has those that some of these arrays have, and they
  /// alone are looped over if `alone`. Returns its elements.
  index_t set_union(int k, const tensor_core* const* some, int count) {
    index_t n = 1;
    for (int d = x_->rank() - 1; d >= 0; --d) {
      has_[d] = false;
      for (int i = 0; i < count; ++i)
        has_[d] =
            has_[d] || (some[i] != nullptr && some[i]->facts->place_of(x_->facts->dim[d]) >= 0);
      if (!has_[d]) continue;
      stride_[k][d] = n;
      n *= x_->local(d);
    }
    return n;
  }
  /// Over all dims of x, or those of the union alone.
  local::loops<N> made(bool of_union = false) const {
    local::loops<N> l;
    for (int d = 0; d < x_->rank(); ++d) {
      const index_t n = x_->local(d);
      if (n == 1 || (of_union && !has_[d])) continue;
      int g = l.groups - 1;
      bool merges = g >= 0;
      for (int k = 0; k < N && merges; ++k) merges = l.stride[k][g] == stride_[k][d] * n;
      if (!merges) l.extent[g = l.groups++] = 1;
      l.extent[g] *= n;
      for (int k = 0; k < N; ++k) l.stride[k][g] = stride_[k][d];
    }
    return l;
  }

 private:
  const tensor_core* x_;
  index_t stride_[N][max_dims]{};
  bool has_[max_dims]{};
};

template <class T> void fill_scales(const T* variance, double epsilon, index_t n, T* scale) {
  const writes_memory kernel;
  for (index_t i = 0; i < n; ++i)
    scale[i] = T(1) / std::sqrt(variance[i] + static_cast<T>(epsilon));
}

/// The wanted cotangents of x, gain and bias: from ybar, these, mean, variance, and what the mean
/// lacks.
template <class T> struct moment_norm_transpose_op {
  static constexpr bool on_host = true;
  double epsilon;
  static constexpr std::string_view call = "batch_norm";

  constexpr void cost(tally& t, results bars, operands in) const {
    const tensor_core& x = in[1];
    if (bars.has(0))
      moment_place(x, in[in.count() - 1]).cost(t, x, 2 * in[in.count() - 1].bytes(), 1);
    t.compute((bars.has(0) ? 11 : 4) * x.elements(),
              2 * (x.bytes() + in[0].bytes()) + bars.bytes());
  }
  void fill(results bars, operands in) const {
    const writes_memory kernel;
    const tensor_core &x = in[1], &mean = in[in.count() - 3], &variance = in[in.count() - 2];
    const tensor_core* const gain = bars.count() > 1 ? &in[2] : nullptr;
    const tensor_core* const bias = bars.count() > 2 ? &in[3] : nullptr;
    const tensor_core* const parts[] = {&mean, gain, bias};
    moment_loops<4> places(x);  // of sums, moments, gain, bias
    const index_t sums = places.set_union(0, parts, 3), moments = mean.elements();
    for (int k = 0; k < 3; ++k) places.set(1 + k, parts[k]);
    const storage room =
        storage::acquire(static_cast<std::size_t>(3 * moments + 2 * sums) * sizeof(T));
    T* const drift = static_cast<T*>(room.data());  // and slope behind it: they travel as one
    T *const scale = drift + 2 * moments, *const sum = scale + moments, *const along = sum + sums;
    const T* const rest = in[in.count() - 1].data<const T>();
    fill_scales(variance.data<const T>(), epsilon, moments, scale);
    const T *const ybar = in[0].data<const T>(), *const v = x.data<const T>();
    local::moment_sums(picked<2>(places.made(), {0, 1}), ybar, v, mean.data<const T>(), sum, along,
                       sums);
    // A gain that x's cotangent does not ask for has no elements here.
    const T* const gains = gain != nullptr && bars.has(0) ? gain->data<const T>() : nullptr;
    join(places.made(true), bars, sum, along, rest, scale, gains, drift, moments);
    if (!bars.has(0)) return;
    const moment_place place(x, mean);
    place.complete(x, drift, 2 * moments);
    T* const slope = drift + moments;
    const T share = static_cast<T>(place.share());
    for (index_t i = 0; i < moments; ++i) {
      slope[i] *= scale[i] * scale[i] * scale[i] * share;
      drift[i] = drift[i] * (scale[i] * share) - rest[i] * slope[i];
    }
    local::normalize_pulled(picked<2>(places.made(), {1, 2}), ybar, v,
                            {mean.data<const T>(), scale, drift, slope}, gains, bars.data<T>(0));
  }

 private:
  template <int N> static local::loops<N> picked(const local::loops<4>& l, const int (&k)[N]) {
    local::loops<N> p;
    p.groups = l.groups;
    std::copy_n(l.extent, max_dims, p.extent);
    for (int i = 0; i < N; ++i) std::copy_n(l.stride[k[i]], max_dims, p.stride[i]);
    return p;
  }
  /// From sums of ybar and of ybar (x - mean), the mean as it is rounded: those with gain for each
  /// moment, and the cotangents of gain and bias.
  static void join(const local::loops<4>& l, results bars, const T* sum, const T* along,
                   const T* rest, const T* scale, const T* gain, T* drift, index_t moments) {
    T* const slope = drift + moments;
    T *const gain_bar = bars.count() > 1 ? bars.data<T>(1) : nullptr, *const bias_bar =
                                                                          bars.count() > 2
                                                                              ? bars.data<T>(2)
                                                                              : nullptr;
    const writes_memory kernel;
    std::fill_n(drift, 2 * moments, T(0));
    if (gain_bar != nullptr) std::fill_n(gain_bar, bars[1].elements(), T(0));
    if (bias_bar != nullptr) std::fill_n(bias_bar, bars[2].elements(), T(0));
    local::detail::for_rows(l, [&](const index_t* at, index_t, index_t n) {
      const writes_memory loop;
      index_t e = at[0], m = at[1], g = at[2], b = at[3];
      const auto step = [&l](int k) { return local::detail::inner_step(l, k); };
      for (index_t i = 0; i < n; ++i, e += step(0), m += step(1), g += step(2), b += step(3)) {
        const T by = gain != nullptr ? gain[g] : T(1);
        const T aslant = along[e] - rest[m] * sum[e];
        drift[m] += by * sum[e];
        slope[m] += by * aslant;
        if (gain_bar != nullptr) gain_bar[g] += aslant * scale[m];
        if (bias_bar != nullptr) bias_bar[b] += sum[e];
      }
    });
  }
};

/// x, gain and bias as far as there are any -> y; auxiliary: mean, variance, what the mean lacks.
template <class T> struct moment_norm_op {
  static constexpr bool on_host = true;
  double epsilon;
  std::string_view call;

  constexpr void cost(tally& t, results y, operands x) const {
    for (const index_t each : {1, 2})
      moment_place(x[0], y[1]).cost(t, x[0], each * y[1].bytes(), 1);
    t.compute(8 * y[0].elements(), y[0].bytes() + 2 * x[0].bytes());
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 0 || (k == 1 && (wanted & 1u) != 0);
  }
  void fill(results y, operands x) const {
    const index_t n = y[1].elements();
    const T* const v = x[0].data<const T>();
    T *const mean = y[1].data<T>(), *const variance = y[2].data<T>(), *const rest = y[3].data<T>();
    const storage room = storage::acquire(static_cast<std::size_t>(n) * sizeof(T));
    T* const scale = static_cast<T*>(room.data());
    find_moments(moment_place(x[0], y[1]), x[0], y[1], mean, rest, variance);
    fill_scales(variance, epsilon, n, scale);
    moment_loops<3> places(x[0]);
    places.set(0, &y[1]);
    for (int k = 1; k < x.count(); ++k) places.set(k, &x[k]);
    local::normalize_by(places.made(), v, mean, rest, scale,
                        x.count() > 1 ? x[1].data<const T>() : nullptr,
                        x.count() > 2 ? x[2].data<const T>() : nullptr, y[0].data<T>());
  }
  constexpr void transpose(const auto& to) const {
    to.give_all(moment_norm_transpose_op<T>{epsilon}, to.y(1), to.y(2), to.y(3));
  }
};

}  // namespace dimesh::detail
