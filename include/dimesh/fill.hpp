// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the elements of a tensor get values? From a constant, a function of the global index,
// random numbers keyed by it, or an array on the host. All local: every rank fills its own block,
// and a program gets the same tensor under every layout.
//
//   fill(x, 1);  fill_by(x, f);     // element (i, j) is 1, is f(i, j)
//   fill_normal(x, random_key{1}, 0, 0.1);
//
// Under a partial layout the first rank along the partial axes gets the value, the others zeros.
// Copies that share the tensor's memory keep their values: see clone.hpp.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "dimesh/memory/memory.hpp"
#include "dimesh/random.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {

/// Element (i...) gets f(i...). out: (length[0], ..., length[R-1]). Flat: one element a call;
/// otherwise one row of the last dim.
template <bool Flat, int R, class T, class F> struct generate_kernel {
  T* out;
  F f;
  index_t length[R + 1];  // of the block; one place more, for R = 0
  index_t offset[R + 1];  // global index of the block's first element

  template <std::size_t... K>
  KOKKOS_INLINE_FUNCTION T value(const index_t* at, std::index_sequence<K...>) const {
    (void)at;
    return static_cast<T>(f(at[K]...));
  }
  KOKKOS_INLINE_FUNCTION void operator()(index_t n) const {
    constexpr int outer = Flat || R == 0 ? R : R - 1;
    index_t at[R + 1] = {}, rest = n;
    for (int d = outer - 1; d >= 0; --d) {
      at[d] = offset[d] + rest % length[d];
      rest /= length[d];
    }
    if constexpr (outer == R) {
      out[n] = value(at, std::make_index_sequence<R>{});
    } else {
      T* row = out + n * length[outer];
      for (index_t j = 0; j < length[outer]; ++j) {
        at[outer] = offset[outer] + j;
        row[j] = value(at, std::make_index_sequence<R>{});
      }
    }
  }
};

/// Of a random number's element: its place in the row-major order of the whole tensor.
template <int R, class Draw> struct keyed {
  Draw draw;
  index_t extent[R + 1];  // global

  template <class... I> KOKKOS_INLINE_FUNCTION auto operator()(I... i) const {
    const index_t at[] = {i..., 0};
    index_t n = 0;
    for (int d = 0; d < R; ++d) n = n * extent[d] + at[d];
    return draw(n);
  }
};
template <class T> struct draw_uniform {
  random_key key;
  T lo, width;
  KOKKOS_INLINE_FUNCTION T operator()(index_t n) const {
    return lo + width * uniform_at<T>(key, n);
  }
};
template <class T> struct draw_normal {
  random_key key;
  T mean, stddev;
  KOKKOS_INLINE_FUNCTION T operator()(index_t n) const {
    return mean + stddev * normal_at<T>(key, n);
  }
};

/// Does this rank hold the value of a tensor with partial axes, or an addend of nothing?
template <class X> bool holds_value(const X& x) {
  constexpr table t = spec_of<X>::table;
  return x.grid().state().is_first(t.mask(use::partial));
}

/// What keeps a tensor from being filled: a halo, or a maximum yet to be found.
template <class X> struct fill_fault {
  using S = spec_of<X>;
  static constexpr auto find() {
    constexpr int dim = [] {
      for (int d = 0; d < S::rank; ++d)
        if (S::table.halo[d] > 0) return d;
      return -1;
    }();
    constexpr int axis = S::table.first_partial(false);
    if constexpr (dim >= 0)
      return tag<dim_has_halo<type_at<dim, typename S::dims>>>{};
    else if constexpr (axis >= 0)
      return tag<partial_operand<type_at<axis, typename S::mesh::axes>>>{};
    else
      return tag<no_fault>{};
  }
  using type = typename decltype(find())::type;
};

}  // namespace detail

/// Sets every stored element to 0, under any layout.
template <Tensor X> void clear(X& x) {
  detail::own_memory(x, false);
  x.set_once(0);
  Kokkos::deep_copy(x.view(), value_of<X>{});
}

/// Sets every element to a value.
template <Tensor X> void fill(X& x, computed<value_of<X>> value) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(
      ok<only<fault, partial_operand>>,
      "fill: the layout is that of a maximum yet to be found; fill a tensor of another layout");
  if (!detail::holds_value(x)) return dimesh::clear(x);
  detail::own_memory(x, false);
  x.set_once(0);
  Kokkos::deep_copy(x.view(), static_cast<value_of<X>>(value));
}

/// Sets element (i...) to f(i...): global indices, in the order of the dims. On a device, f is a
/// named function object with KOKKOS_FUNCTION.
template <class F, Tensor X> void fill_by(X& x, const F& f) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill_by: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(
      ok<only<fault, partial_operand>>,
      "fill_by: the layout is that of a maximum yet to be found; fill a tensor of another layout");
  if (!detail::holds_value(x)) return dimesh::clear(x);
  if (x.local_size() == 0) return;
  detail::own_memory(x, false);
  x.set_once(0);
  using space = Kokkos::DefaultExecutionSpace;
  constexpr int rank = spec_of<X>::rank;
  constexpr bool flat =
      !Kokkos::SpaceAccessibility<Kokkos::HostSpace, detail::memory_space>::accessible;
  detail::generate_kernel<flat, rank, value_of<X>, F> kernel{x.data(), f, {}, {}};
  index_t calls = 1;
  for (int d = 0; d < rank; ++d) {
    kernel.length[d] = x.block(d).length;
    kernel.offset[d] = x.block(d).offset;
    if (flat || d < rank - 1) calls *= kernel.length[d];
  }
  Kokkos::parallel_for("dimesh::fill_by",
                       Kokkos::RangePolicy<space, Kokkos::IndexType<index_t>>(0, calls), kernel);
  if constexpr (flat) space().fence();
}

namespace detail {
template <class X, class Draw> void fill_keyed(X& x, const Draw& draw) {
  constexpr int rank = spec_of<X>::rank;
  keyed<rank, Draw> f{draw, {}};
  const auto extents = x.shape().extents();
  for (int d = 0; d < rank; ++d) f.extent[d] = extents[static_cast<std::size_t>(d)];
  dimesh::fill_by(x, f);
}
}  // namespace detail

/// Sets the elements to random numbers: uniform in [lo, hi).
template <Tensor X>
void fill_uniform(X& x, random_key key, computed<value_of<X>> lo, computed<value_of<X>> hi) {
  detail::fill_keyed(x, detail::draw_uniform<computed<value_of<X>>>{key, lo, hi - lo});
}
/// Sets the elements to random numbers: normal with this mean and standard deviation.
template <Tensor X>
void fill_normal(X& x, random_key key, computed<value_of<X>> mean, computed<value_of<X>> stddev) {
  detail::fill_keyed(x, detail::draw_normal<computed<value_of<X>>>{key, mean, stddev});
}

/// Copies this rank's block from an array on the host, row-major in the order of the dims.
/// Throws dimesh::error unless it has as many elements as the block.
template <Tensor X> void fill_block(X& x, std::span<const value_of<X>> from) {
  if (static_cast<index_t>(from.size()) != x.local_size())
    throw error("fill_block: the block has " + std::to_string(x.local_size()) +
                " elements, the array " + std::to_string(from.size()) + " (rank " +
                std::to_string(x.grid().rank()) + ")");
  detail::own_memory(x, false);
  const auto host = Kokkos::create_mirror_view(x.view());
  if (!from.empty()) std::memcpy(host.data(), from.data(), from.size_bytes());
  Kokkos::deep_copy(x.view(), host);
}

/// Copies this rank's part of an array on the host that holds the whole tensor, row-major in the
/// order of the dims. Throws dimesh::error unless it has as many elements as the tensor.
template <Tensor X> void fill_from(X& x, std::span<const value_of<X>> whole) {
  using fault = typename detail::fill_fault<X>::type;
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "fill_from: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange");
  static_assert(ok<only<fault, partial_operand>>,
                "fill_from: the layout is that of a maximum yet to be found; fill a tensor of "
                "another layout");
  if (static_cast<index_t>(whole.size()) != x.shape().size())
    throw error("fill_from: the tensor has " + std::to_string(x.shape().size()) +
                " elements, the array " + std::to_string(whole.size()));
  if (!detail::holds_value(x)) return dimesh::clear(x);
  detail::own_memory(x, false);
  x.set_once(0);
  constexpr int rank = spec_of<X>::rank;
  const auto host = Kokkos::create_mirror_view(x.view());
  const index_t row = rank == 0 ? 1 : x.block(rank - 1).length;
  const auto extents = x.shape().extents();
  for (index_t n = 0; row > 0 && n < x.local_size() / row; ++n) {
    // where row n of the block begins in the whole: offsets and places of the outer dims
    index_t from = rank == 0 ? 0 : x.block(rank - 1).offset, rest = n, stride = 1;
    for (int d = rank - 2; d >= 0; --d) {
      stride *= extents[static_cast<std::size_t>(d + 1)];
      from += (x.block(d).offset + rest % x.block(d).length) * stride;
      rest /= x.block(d).length;
    }
    std::memcpy(host.data() + n * row, whole.data() + from,
                static_cast<std::size_t>(row) * sizeof(value_of<X>));
  }
  Kokkos::deep_copy(x.view(), host);
}

/// Poison stays what it is.
template <class X, class... With>
  requires is_poison<X>
void fill(X&, const With&...) {}
template <class X, class... With>
  requires is_poison<X>
void fill_by(X&, const With&...) {}
template <class X, class... With>
  requires is_poison<X>
void fill_uniform(X&, const With&...) {}
template <class X, class... With>
  requires is_poison<X>
void fill_normal(X&, const With&...) {}
template <class X, class... With>
  requires is_poison<X>
void fill_block(X&, const With&...) {}
template <class X, class... With>
  requires is_poison<X>
void fill_from(X&, const With&...) {}
template <class X>
  requires is_poison<X>
void clear(X&) {}

}  // namespace dimesh
