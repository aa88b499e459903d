// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a constant fill a block, or a function of an element's indices, and may it? By one
// kernel for each function and rank, whatever the layout; what the function is asked and gives is
// known from its type.
//
//   clear_core<float>(x)   fill_core<float>(x, 1)
//   fill_elements<2, float>(x, f)     -> element (i, j) is f(i, j)
//   indexed_fault<...>      -> function_not_callable_with<long, long>, fraction_cut<double, int>
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <utility>

#include "dimesh/core/rule.hpp"
#include "dimesh/core/user_function.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh::detail {

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
    const writes_memory kernel;
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

/// Does this rank hold the value of a tensor with partial axes, or an addend of nothing? Throws
/// dimesh::error where only the run knows the layout, and it is one that types refuse (fill_fault).
bool holds_value(const tensor_core& x);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool holds_value(const tensor_core& x) {
  require_grid("fill", x);
  if (x.facts->at_run_time) {
    if (const dim_facts* const d = haloed_dim(*x.facts); d != nullptr)
      (words() << "fill: dim_has_halo: blocks of dim '" << d->name
               << "' carry a halo; fill a tensor without it, then halo_exchange")
          .raise();
    if (x.layout().first_partial(false) >= 0)
      (words() << "fill: partial_operand: the layout is that of a maximum yet to be found; fill a "
                  "tensor of another layout")
          .raise();
  }
  return x.grid->is_first(x.layout().mask(use::partial));
}
#endif

/// All of its memory is about to be written: it has its own then, with an addend on each rank.
/// Throws dimesh::error where there is none, of a tensor that was moved from or never made.
void begin_to_fill(tensor_core& x);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void begin_to_fill(tensor_core& x) {
  require_grid("fill", x);
  own_memory(x.memory, x.bytes(), false);
  x.once = 0;
#ifdef DIMESH_CHECKED
  written_blocks::here().add(x.memory.data());
#endif
}
#endif

/// All elements that are stored are 0.
void clear_number(tensor_core& x);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void clear_number(tensor_core& x) {
  begin_to_fill(x);
  const in_space here(x.facts->space);
  zero_bytes(x.memory.data(), x.bytes());
}
#endif
/// All elements that are stored are `value`.
template <class T> void store_everywhere(tensor_core& x, const T& value) {
  begin_to_fill(x);
  T* const to = x.template data<T>();
  const writes_memory kernel;
  if (runs_on_host_threads(x.facts->space))
    std::fill_n(to, x.elements(), value);
  else
    Kokkos::parallel_for("dimesh::fill",
                         kernel_range<Kokkos::DefaultExecutionSpace>(0, x.elements()),
                         store_each<T>{to, value});
}
template <class T> void clear_core(tensor_core& x) {
  if constexpr (element_traits<T>::kind != element_kind::other)
    clear_number(x);
  else
    store_everywhere(x, T{});
}
/// Every element of the whole is `value`.
template <class T> void fill_core(tensor_core& x, const T& value) {
  if (holds_value(x))
    store_everywhere(x, value);
  else
    clear_core<T>(x);
}

/// The kernel for a block of x that lies at `out`, and how often it is called.
template <bool Flat, int R, class T, class F>
auto kernel_of(const tensor_core& x, T* out, const F& f) {
  generate_kernel<Flat, R, T, std::decay_t<F>> kernel{out, f, {}, {}};
  index_t calls = 1;
  for (int d = 0; d < R; ++d) {
    kernel.length[d] = x.own(d).length;
    kernel.offset[d] = x.own(d).offset;
    if (Flat || d < R - 1) calls *= kernel.length[d];
  }
  return std::pair(kernel, calls);
}

/// Element (i...) is f(i...), by the threads of one execution space.
template <class Space, int R, class T, class F> void fill_in(tensor_core& x, const F& f) {
  constexpr bool flat = !std::is_same_v<Space, host_execution>;
  const auto [kernel, calls] = kernel_of<flat, R>(x, x.template data<T>(), f);
  if constexpr (local::detail::runs_on_host<Space>) {
    using each = local::detail::each_index<std::remove_const_t<decltype(kernel)>>;
    local::in_ranges<Space>(calls, each{kernel});
  } else {
    Kokkos::parallel_for("dimesh::fill_by", kernel_range<Space>(0, calls), kernel);
    Space().fence();
  }
}

/// Functions that no kernel of a device calls: it reaches nothing that a pointer names.
template <class F>
inline constexpr bool is_function_of_host =
    is_lambda_of_host<F> || (!hosts_only && (std::is_pointer_v<F> || std::is_function_v<F>));

/// The same by the calling thread, in memory of the host that is then copied: for functions that
/// only the host can call.
template <int R, class T, class F> void fill_by_host(tensor_core& x, const F& f) {
  const space_facts* const host = &facts_of_memory<Kokkos::HostSpace>;
  const storage near = storage::acquire(static_cast<std::size_t>(x.bytes()), host);
  {
    const auto [kernel, calls] = kernel_of<false, R>(x, static_cast<T*>(near.data()), f);
    const writes_memory loop;
    for (index_t n = 0; n < calls; ++n) kernel(n);
  }
  copy_between(x.memory.data(), x.facts->space, near.data(), host, x.bytes());
}

/// Element (i...) of the whole is f(i...).
template <int R, class T, class F> void fill_elements(tensor_core& x, const F& f) {
  if (!holds_value(x)) return clear_core<T>(x);
  begin_to_fill(x);  // empty blocks, too: `once` is the same on all ranks
  if (x.elements() == 0) return;
  if constexpr (is_function_of_host<F>) {
    fill_by_host<R, T>(x, f);
  } else {
    if constexpr (!hosts_only)
      if (facts_of_space(x.facts->space).on_host_threads)
        return fill_in<host_execution, R, T>(x, f);
    fill_in<Kokkos::DefaultExecutionSpace, R, T>(x, f);
  }
}

/// (Not an alias, of which nvcc would forget that it is one of a pack.)
template <class> struct index_of_dim {
  using type = const index_t&;
};
// Without arguments, f() and what stands in for it would be two equal choices. (They depend on D,
// so that a function of any number of indices is not called with none to find that out.)
template <class F, class... D> struct answer_of_none {};
template <class F> struct answer_of_none<F> {
  using type = not_called;
};
template <class F>
  requires calls<const F&>
struct answer_of_none<F> {
  using type = decltype(std::declval<const F&>()());
};
template <class F, class... D>
auto answer_of_indices(list<D...>) -> typename answer_of_none<F, D...>::type;
/// What f gives for an element's indices.
template <class F, class... D>
  requires(sizeof...(D) > 0)
auto answer_of_indices(list<D...>)
    -> decltype(ask<F>()(std::declval<typename index_of_dim<D>::type>()...));
template <class T, class R>
using cut_fault = std::conditional_t<std::is_floating_point_v<T> && std::is_integral_v<R>,
                                     fraction_cut<T, R>, no_fault>;

/// What is wrong with elements T from a function that gives R.
template <class R, class T, class F, class Dims> struct indexed_fault {
  using type = std::conditional_t<std::is_constructible_v<T, R>, cut_fault<std::decay_t<R>, T>,
                                  function_gives_no_number<R>>;
};
template <class T, class F, class... D>
struct indexed_fault<not_called, T, F, list<D...>> : no_call<F, typename index_of_dim<D>::type...> {
};

}  // namespace dimesh::detail
