// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a filter see in each window of a tensor? A product of windows and filter, summed over
// what the result lacks: a convolution (more exactly, a cross-correlation), over any number of
// dims. Dims play their parts by where they stand, as in an einsum: what both operands have and the
// result lacks is summed (input channels), what the filter alone brings is new (output channels),
// what all three have are groups.
//
//   using v = window<height, tall, high>;  using h = window<width, wide, across>;
//   convolution<batch, high, across, out>(x[batch/rows, height, width, in],
//                                         w[tall, wide, in, out/cols],
//                                         v{.stride = 2, .around = padding::same}, h{})
//     -> [batch/rows, high, across, out/cols]
//   convolution<batch, high, in>(x[batch, height, in], w[tall, in], v{})     -> depthwise
//   transposed_convolution<batch, height, in>(y[batch, high, out], w[tall, in, out],
//                                             window<high, tall, height>{.stride = 2})
//
// Local: the dims of windows are whole on each rank (of split ones: convolution_exchange.hpp); all
// others may lie as a product allows, without halos. A convolution, its transpose and the filter's
// gradient are one operation whose three tensors change parts.
#pragma once

#include <algorithm>

#include "dimesh/local/convolve.hpp"
#include "dimesh/op/parts/window.hpp"
#include "dimesh/op/parts/window_interior.hpp"
#include "dimesh/op/refusals/misuse_of_convolution.hpp"

namespace dimesh {

namespace detail {

using local::window_role;

/// Elements T. role: the parts of the two operands and of the result. Of array and result the one
/// that is an operand is seen from the blocks of the other one; for a filter the array is, so that
/// each rank sums over its own results.
template <class T> struct convolution_op {
  static constexpr bool on_host = true;
  window_set windows;
  window_role role[3] = {window_role::array, window_role::filter, window_role::result};
  std::string_view call = "convolution";
  bool beside = false;  // the interior is computed while others' elements are on their way

  constexpr index_t extent_of(const dim_facts* d) const { return windows.extent_of(d, role[2]); }
  constexpr void cost(tally& t, results y, operands x) const {
    index_t turns = 2;
    const tensor_core* const all[] = {&y[0], &x[0], &x[1]};
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < all[k]->rank(); ++d)
        if (is_new_loop(all, k, d)) turns *= all[k]->local(d);
    const windowed_view view = view_of(all);
    for (int i = 0; i < windows.count; ++i) turns *= local::pairs_of(view.local_moves(i));
    view.cost(t);
    t.compute(turns, y[0].bytes() + bytes_of(x) + view.copied());
  }
  static constexpr bool puts_off = true;
  static constexpr bool needs(int k, unsigned wanted) {
    return (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, in_parts(role[2], role[1], role[0]), to.ybar, to.x(1));
    to.give(1, in_parts(role[2], role[0], role[1]), to.ybar, to.x(0));
  }
  void fill(results y, operands x) const {
    const tensor_core* const all[] = {&y[0], &x[0], &x[1]};
    const windowed_view view = view_of(all);
    if (beside && view.travels()) return fill_beside(all, view, y[0]);
    storage room;
    const T* from[] = {x[0].data<const T>(), x[1].data<const T>()};
    const int k = place_in(seen_role());
    from[k - 1] = view.fetch(from[k - 1], call.data(), room);
    local::convolve(loops(all, view, view.here(), view.whole()), from[0], from[1], y[0].data<T>(),
                    y[0].elements());
  }

 private:
  constexpr convolution_op in_parts(window_role a, window_role b, window_role c) const {
    convolution_op y = *this;
    y.role[0] = a, y.role[1] = b, y.role[2] = c;
    return y;
  }
  /// Tensors in the order result, operands.
  constexpr window_role role_in(int k) const { return role[(k + 2) % 3]; }
  constexpr int place_in(window_role r) const {
    return role_in(0) == r ? 0 : role_in(1) == r ? 1 : 2;
  }
  constexpr window_role seen_role() const {
    return role[2] == window_role::array ? window_role::result : window_role::array;
  }
  /// Of the tensor from whose blocks it is seen.
  constexpr window_role role_along() const {
    return seen_role() == window_role::array ? window_role::result : window_role::array;
  }
  constexpr windowed_view view_of(const tensor_core* const* all) const {
    return {windows, seen_role(), *all[place_in(seen_role())], *all[place_in(role_along())]};
  }
  void fill_beside(const tensor_core* const* all, const windowed_view& view, tensor_core& y) const {
    const int seen = place_in(seen_role()), along = place_in(role_along());
    const box block = view.whole().of;
    const T* from[] = {all[1]->data<const T>(), all[2]->data<const T>()};
    T* const to = y.data<T>();
    const index_t n = y.elements();
    zero_bytes(to, y.bytes());
    storage room;  // for a filter's gradient, which all parts add to
    if (along != 0) room = storage::acquire(static_cast<std::size_t>(y.bytes()));
    const auto compute = [&](const T* elements, const box& lies, const window_part& part) {
      const T* in[] = {from[0], from[1]};
      in[seen - 1] = elements + first_in(lies, part.seen);
      const local::convolution c = loops(all, view, lies, part);
      if (along == 0)
        return local::convolve_into_zeros(c, in[0], in[1], to + first_in(block, part.of));
      in[along - 1] += first_in(block, part.of);
      local::convolve_more(c, in[0], in[1], to, n, static_cast<T*>(room.data()));
    };
    beside_messages(view, from[seen - 1], y, call.data(), compute);
  }
  /// Loops over dims that are in no window, and the windows over a part; what these see is in an
  /// array that holds box `lies`.
  local::convolution loops(const tensor_core* const* all, const windowed_view& view,
                           const box& lies, const window_part& part) const {
    const int seen = place_in(seen_role());
    const strides in_view(lies);
    const auto stride = [&](int k, const dim_facts* dim) {
      const int at = all[k]->facts->place_of(dim);
      return at < 0 ? index_t{0} : k == seen ? in_view.at[at] : all[k]->stride(at);
    };
    local::convolution c;
    for (int k = 0; k < 3; ++k) c.role[k] = role[k];
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < all[k]->rank(); ++d) {
        if (!is_new_loop(all, k, d)) continue;
        local::require_loops(c);
        const dim_facts* const dim = all[k]->facts->dim[d];
        const int i = c.rest.outer++;
        c.rest.extent[i] = all[k]->local(d);
        c.rest.c_outer[i] = stride(0, dim);
        c.rest.a_outer[i] = stride(1, dim), c.rest.b_outer[i] = stride(2, dim);
      }
    for (c.windows = 0; c.windows < windows.count; ++c.windows) {
      local::window_loop& w = c.window[c.windows] = view.local_moves(c.windows, part);
      for (int k = 0; k < 3; ++k)
        w.step[static_cast<int>(role_in(k))] = stride(k, windows.dims[c.windows].of(role_in(k)));
    }
    return c;
  }
  /// Dims that are in no window have a loop each, found where they stand first.
  constexpr bool is_new_loop(const tensor_core* const* all, int k, int d) const {
    const dim_facts* const dim = all[k]->facts->dim[d];
    for (int i = 0; i < windows.count; ++i)
      if (same_dim(dim, windows.dims[i].of(role_in(k)))) return false;
    for (int i = 0; i < k; ++i)
      if (all[i]->facts->place_of(dim) >= 0) return false;
    return true;
  }
};

/// What the run says of one window. Back: from results to the array that they came from.
template <class From, class Tap, class To>
constexpr local::window_loop window_moves_of(std::string_view call, bool back, index_t n,
                                             index_t taps, const dimesh::window<From, Tap, To>& v) {
  local::window_loop m;
  m.stride = v.stride, m.dilation = v.dilation;
  const auto results = [&](index_t array) {
    return results_over(call, array, taps, v.stride, v.dilation, v.around, m.before);
  };
  index_t to = back ? n * v.stride : 0;
  if (!back)
    to = results(n);
  else if (is_static_dim<To>)
    to = static_extent<To>;
  else if (v.extent != dynamic)
    to = v.extent;
  else if (!v.around.is_same)
    to = (n - 1) * v.stride + v.dilation * (taps - 1) + 1 - v.around.before - v.around.after;
  if (to < 0 && n > 0)
    (words() << call << ": paddings of " << v.around.before << " and " << v.around.after
             << " take off more of '" << name_of<To>() << "' than windows from " << n
             << " elements cover; pad less")
        .raise();
  to = std::max(to, index_t{0});  // windows of no elements may cover less than none
  if (back && results(to) != n)
    (words() << call << ": " << n << " elements of dim '" << name_of<From>()
             << "' are not what windows over " << to << " of '" << name_of<To>() << "' give")
        .raise();
  require_results<From, To>(call, to, n);
  m.extent[0] = back ? to : n, m.extent[1] = taps, m.extent[2] = back ? n : to;
  return m;
}

/// Of operands without a fault. Split: dims of windows may be.
template <bool Split, class Out, bool Back, class X, class W, class... V>
constexpr auto convolved(const window_call& call, const X& x, const W& w, const V&... v) {
  using rule = convolution_rule<Split, Out, V...>;
  if constexpr (!ok<fault_of<rule, X, W>> || is_poison<X> || is_poison<W>) {
    return poison{};
  } else if constexpr (is_storage_only<value_of<X>>) {  // in float, and rounded once
    using F = computed<value_of<X>>;
    return cast<value_of<X>>(convolved<Split, Out, Back>(call, cast<F>(x), cast<F>(w), v...));
  } else {
    convolution_op<value_of<X>> op;
    const window_role array = window_role::array, result = window_role::result;
    op.role[0] = Back ? result : array, op.role[2] = Back ? array : result;
    op.call = call.name, op.beside = call.beside;
    const auto add =
        [&]<class From, class Tap, class To>(const dimesh::window<From, Tap, To>& one) {
          window_dims dims = dims_of_window<dimesh::window<From, Tap, To>>;
          if (Back) std::swap(dims.dim[0], dims.dim[2]);
          const bool open = has_assumed_extents(x) || has_assumed_extents(w);
          op.windows.add(dims, open ? local::window_loop{}
                                    : window_moves_of(call.name, Back, x.template extent<From>(),
                                                      w.template extent<Tap>(), one));
        };
    (add(v), ...);
    return apply_rule<rule, value_of<X>>(op, x, w);
  }
}

/// All but what is wrong with splits of windows' dims.
template <class Fault> constexpr void assert_convolution() {
  static_assert(ok<only<Fault, meshes_differ>>,
                "convolution: tensor and filter live on different meshes; put them on one");
  static_assert(ok<only_placed<Fault>>,
                "convolution: tensor and filter live on different ranks of this axis; place<axis, "
                "k> the one that all ranks hold, or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "convolution: a window goes over a dim that the tensor lacks, or its taps are no "
                "dim of the filter; name window<dim of the tensor, dim of the filter, new dim>");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "convolution: dims of windows stand in one tensor each: the taps in the filter, "
                "the others never there; rename a dim");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "convolution: blocks of a dim carry halos; take the tensor without them");
  static_assert(ok<only<Fault, dim_repeated, output_dim_not_in_any_input, dim_in_one_input_only>>,
                "convolution: the result has dims of its operands, with the windows' new dims, "
                "each once; what it lacks stands in both operands, and is summed");
  static_assert(ok<only<Fault, elements_differ>>,
                "convolution: tensor and filter have different element types; cast one of them");
  static_assert(
      ok<only<Fault, dims_share_mesh_axis, dim_split_in_one_operand_only, dim_split_differently>>,
      "convolution: tensor and filter are split differently; relayout one of them");
  static_assert(ok<only<Fault, both_operands_partial, partial_operand, partial_meets_split>>,
                "convolution: an operand is a sum yet to be made along an axis where the other one "
                "is not whole; complete it first");
}
template <class Fault> constexpr void assert_whole_windows() {
  static_assert(ok<only<Fault, dim_is_split>>,
                "convolution: a window needs its dim whole on each rank, and it is split; take "
                "convolution_exchange, which gets what windows see of others, or whole<dim> it");
}

}  // namespace detail

/// y[.., o, .., f] = sum over taps t and channels c of x[.., stride o + dilation t - before, .., c]
/// w[t, c, f], zero outside x. Shapes: x[.., From, ..], w[.., Tap, ..] -> [Out...], which has To of
/// every window; its extent is (n + before + after - dilation (taps - 1) - 1) / stride + 1, rounded
/// down (padding::same: n / stride, rounded up). Every other dim stands in Out or in both operands,
/// and is summed where Out lacks it; what all three have (groups) is not. At most four windows.
/// Local; a summed dim that is split leaves the result partial. Error: as a sum of all products in
/// turn has, n eps of the sum of their magnitudes. Throws dimesh::error where an extent does not
/// fit a dim of Out that has one, or a window's numbers make no sense.
template <Dim... Out, Operand X, Operand W, Dim... From, Dim... Tap, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto convolution(const X& x, const W& w,
                           const dimesh::window<From, Tap, To>&... windows) {
  using list = detail::list<Out...>;
  using rule = detail::convolution_rule<false, list, dimesh::window<From, Tap, To>...>;
  detail::assert_whole_windows<detail::fault_of<rule, X, W>>();
  detail::assert_convolution<detail::fault_of<rule, X, W>>();
  return detail::convolved<false, list, false>({"convolution"}, x, w, windows...);
}

/// The transpose of a convolution in its first operand: x[.., i, .., c] = the sum of y[.., o, ..,
/// f] w[t, c, f] over all o and t with i = stride o + dilation t - before. Shapes: y[.., From, ..],
/// w[.., Tap, ..] -> [Out...], which has To of every window. The extent of To is that of its type,
/// or window.extent, or the least from which a convolution makes From (padding::same: stride
/// times as many). Dims, layouts and errors as of a convolution.
template <Dim... Out, Operand Y, Operand W, Dim... From, Dim... Tap, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto transposed_convolution(const Y& y, const W& w,
                                      const dimesh::window<From, Tap, To>&... windows) {
  using list = detail::list<Out...>;
  using rule = detail::convolution_rule<false, list, dimesh::window<From, Tap, To>...>;
  detail::assert_whole_windows<detail::fault_of<rule, Y, W>>();
  detail::assert_convolution<detail::fault_of<rule, Y, W>>();
  return detail::convolved<false, list, true>({"transposed_convolution"}, y, w, windows...);
}

}  // namespace dimesh
