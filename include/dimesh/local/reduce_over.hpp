// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are arrays summed, or their extremes found, in code that no layout makes anew? Over loops
// that only the run knows, row by row (reduce.hpp): the same additions in the same order always.
//
//   loops<2> l{2, {256, 1024}, {{1, 0}, {1024, 1}}};
//   map_reduce_over(plus{}, l, f, y, x);   // y[i] = sum over j of f(x[i, j])
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/halves.hpp"
#include "dimesh/local/map_over.hpp"
#include "dimesh/local/reduce.hpp"
#include "dimesh/local/reduce_parts.hpp"
#include "dimesh/local/rounded_sums.hpp"

#include <vector>

namespace dimesh::local {

namespace detail {

/// A kernel that joins m rows to the first array: one result a row, or a row of results. What is
/// there is joined with (add) or replaced.
using reduce_kernel = void (*)(const void* f, index_t m, index_t n, std::byte* const* at,
                               const index_t* row, bool add);

/// along[s]: one result a row; input k is one value a row where s has bit k. across: each row is
/// joined to a row of results; always adds. fill: the identity, n times.
struct reduce_kernels {
  reduce_kernel along[4], across;
  void (*fill)(std::byte* to, index_t n);
  void (*join)(std::byte* to, const std::byte* from, index_t n);
  const void* f;
  int bytes;     // of a result
  bool rounded;  // it loses digits where many are added one after another
};

template <class Op, unsigned Scalars, class F, class T, class... X> struct reduce_rows {
  [[gnu::noinline, gnu::flatten]] static void along(const void* f, index_t m, index_t n,
                                                    std::byte* const* at, const index_t* row,
                                                    bool add) {
    const dimesh::detail::writes_memory kernel;
    T* y = reinterpret_cast<T*>(at[0]);
    for (index_t i = 0; i < m; ++i, y += row[0]) {
      T total;
      each<keep::nothing>(std::index_sequence_for<X...>{}, *static_cast<const F*>(f), n, i,
                          value_of_row<T>{&total}, at, row);
      *y = add ? Op::join(*y, total) : total;
    }
  }
  [[gnu::noinline, gnu::flatten]] static void across(const void* f, index_t m, index_t n,
                                                     std::byte* const* at, const index_t* row,
                                                     bool) {
    const dimesh::detail::writes_memory kernel;
    T* y = reinterpret_cast<T*>(at[0]);
    for (index_t i = 0; i < m; ++i, y += row[0]) {
      each<keep::joined>(std::index_sequence_for<X...>{}, *static_cast<const F*>(f), n, i,
                         row_of<T>{y}, at, row);
    }
  }

 private:
  template <keep Keep, std::size_t... K, class Out>
  KOKKOS_FORCEINLINE_FUNCTION static void each(std::index_sequence<K...>, const F& f, index_t n,
                                               index_t i, const Out& out, std::byte* const* at,
                                               const index_t* row) {
    reduce_row<Op, Keep, F>{f}(
        n, out, std::conditional_t < (Scalars >> K & 1u) != 0, value_of_row<const X>,
        row_of < const X >> {reinterpret_cast<const X*>(at[K + 1]) + i * row[K + 1]}...);
  }
};

template <class Op, class T> void fill_identity(std::byte* to, index_t n) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(reinterpret_cast<T*>(to), n, Op::template identity<T>());
}
template <class Op, class T> void join_each(std::byte* to, const std::byte* from, index_t n) {
  const dimesh::detail::writes_memory kernel;
  T* y = reinterpret_cast<T*>(to);
  for (index_t i = 0; i < n; ++i) y[i] = Op::join(y[i], reinterpret_cast<const T*>(from)[i]);
}

template <class Op, class F, class T, class... X> constexpr reduce_kernels kernels_of_reduction() {
  reduce_kernels k{{reduce_rows<Op, 0, F, T, X...>::along},
                   reduce_rows<Op, 0, F, T, X...>::across,
                   fill_identity<Op, T>,
                   join_each<Op, T>,
                   nullptr,
                   static_cast<int>(sizeof(T)),
                   std::is_same_v<Op, plus> && !std::is_integral_v<T>};
  if constexpr (sizeof...(X) == 2) {
    k.along[1] = reduce_rows<Op, 1, F, T, X...>::along;
    k.along[2] = reduce_rows<Op, 2, F, T, X...>::along;
  }
  return k;
}

inline bool lacks_outer(const array_loops& l, int k) {
  for (int g = 0; g + 1 < l.groups; ++g) {
    if (l.stride[k][g] == 0) return true;
  }
  return false;
}

/// The walk of a reduction over all of its loops.
class reduction {
 public:
  reduction(const array_loops& l, const reduce_kernels& k) : l_(l), k_(k), w_(l) {
    along_ = w_.step[0] == 0;
    add_ = !along_ || lacks_outer(l, 0) || w_.across >= 0;
    unsigned scalars = 0;
    for (int a = 1; a < l.arrays; ++a) scalars |= w_.step[a] == 0 ? 1u << (a - 1) : 0u;
    form_ = !along_                                      ? (scalars == 0 ? k.across : nullptr)
            : scalars < 4 && k.along[scalars] != nullptr ? k.along[scalars]
                                                         : nullptr;
    for (int a = 0; a < l.arrays; ++a) {
      const bool scalar = w_.step[a] == 0;
      if (w_.step[a] == 1 || (scalar && (a == 0 || form_ != nullptr))) continue;
      staged_[count_++] = a;
    }
    if (form_ == nullptr) form_ = along_ ? k.along[0] : k.across;
  }
  /// Must results hold the identity before?
  bool adds() const { return add_; }

  DIMESH_OUTLINE inline void run() {
    for (; w_.more(); w_.next()) {
      if (count_ == 0)
        form_(k_.f, w_.m, w_.n, w_.at, w_.row, add_);
      else if (w_.across >= 0)
        tiles(tile_rows, std::min(staged_columns(l_), (w_.n + 15) / 16 * 16));
      else if (along_)
        tiles(1, w_.n);  // a row is one sum
      else
        tiles(1, std::min(staged_columns(l_), w_.n));
    }
  }

 private:
  void tiles(index_t rows, index_t cols) {
    const int widest = *std::max_element(l_.bytes, l_.bytes + l_.arrays);
    const auto bytes =
        static_cast<std::size_t>((rows * cols + stage_slack) * widest + 63) / 64 * 64;
    room_ = thread_scratch(bytes * static_cast<std::size_t>(count_));
    for (index_t i = 0; i < w_.m; i += rows) {
      for (index_t j = 0; j < w_.n; j += cols)
        tile(i, j, std::min(rows, w_.m - i), std::min(cols, w_.n - j), cols, bytes);
    }
  }
  void tile(index_t i, index_t j, index_t m, index_t n, index_t d, std::size_t bytes) {
    std::byte* at[max_arrays];
    index_t row[max_arrays];
    for (int a = 0; a < l_.arrays; ++a) at[a] = w_.place(a, i, j), row[a] = w_.row[a];
    std::byte* room = room_;
    for (int s = 0; s < count_; ++s, room += bytes) {
      const int a = staged_[s];
      const bool one_row = w_.row[a] == 0;  // results of all rows are joined in one place
      stage(l_.bytes[a], one_row ? 1 : m, n, at[a], w_.row[a], w_.step[a], room, d);
      at[a] = room, row[a] = one_row ? 0 : d;
    }
    form_(k_.f, m, n, at, row, add_);
    if (at[0] == room_) {
      unstage(l_.bytes[0], row[0] == 0 ? 1 : m, n, at[0], d, w_.place(0, i, j), w_.row[0],
              w_.step[0]);
    }
  }

  const array_loops& l_;
  const reduce_kernels& k_;
  row_walk w_;
  bool along_, add_;
  reduce_kernel form_;
  int staged_[max_arrays], count_ = 0;
  std::byte* room_ = nullptr;
};

/// Reduces all of l, whose results are not yet filled, on one thread.
void reduce_blocks(const array_loops& l, const reduce_kernels& k);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_blocks(const array_loops& l, const reduce_kernels& k) {
  const dimesh::detail::writes_memory kernel;
  in_halves(l, k.rounded, k.join, [&](const array_loops& part) {
    reduction r(part, k);
    if (r.adds()) k.fill(part.at[0], elements_of(part, 0));
    r.run();
  });
}
#endif

/// The longest group that array 0 has, or lacks; -1 if there is none.
inline int longest_group(const array_loops& l, bool has) {
  int best = -1;
  for (int g = 0; g < l.groups; ++g) {
    if ((l.stride[0][g] != 0) == has && (best < 0 || l.extent[g] > l.extent[best])) best = g;
  }
  return best;
}

/// The same on the threads of a host. Where results are few and what is joined is long, each piece
/// has results of its own, which are joined in their order.
template <class Space> void reduce_in_pieces(const array_loops& l, const reduce_kernels& k) {
  const index_t most = pieces<Space>::most(), size = elements_of(l, 0);
  const int own = longest_group(l, true), apart = longest_group(l, false);
  const index_t own_extent = own < 0 ? 1 : l.extent[own];
  if (apart < 0 || own_extent >= most || l.extent[apart] <= own_extent || size > 65536) {
    return in_halves(l, k.rounded, k.join, [&](const array_loops& half) {
      k.fill(half.at[0], size);
      in_pieces<Space>(
          half, [own](const array_loops&) { return own; },
          [&](const array_loops& part) { reduction(part, k).run(); });
    });
  }
  const index_t n = l.extent[apart], count = std::min(n, most);
  const index_t slot = (size * k.bytes + 127) / 64 * 64;  // no line of cache is shared
  std::vector<std::byte> results(static_cast<std::size_t>(count * slot));
  launch<Space>(count, [&](index_t p) {
    array_loops part = l.part(apart, n * p / count, n * (p + 1) / count);
    part.at[0] = results.data() + p * slot;
    reduce_blocks(part, k);
  });
  k.fill(l.at[0], size);
  for (index_t p = 0; p < count; ++p) k.join(l.at[0], results.data() + p * slot, size);
}

/// Is there one result, of arrays without gaps? Then there is nothing to walk.
template <int N> bool is_one_row(const loops<N>& l) {
  if (l.groups != 1 || l.stride[0][0] != 0 || l.extent[0] <= 0) return false;
  for (int k = 1; k < N; ++k)
    if (l.stride[k][0] != 1) return false;
  return true;
}
template <class Op, class F, class T, class... X>
void reduce_one_row(index_t n, const F& f, T* y, const X*... x) {
  std::byte* const at[] = {reinterpret_cast<std::byte*>(y),
                           reinterpret_cast<std::byte*>(const_cast<X*>(x))...};
  constexpr index_t row[1 + sizeof...(X)]{};
  reduce_rows<Op, 0, F, T, X...>::along(&f, 1, n, at, row, false);
}

template <class Space, class Op, class F, class T, class... X>
void reduce_to(const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f, T* y,
               const X*... x) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (runs_on_host<Space>) {
    if constexpr (runs_as_call<Space>)
      if (is_one_row(l)) return reduce_one_row<Op>(l.extent[0], f, y, x...);
    reduce_kernels k = kernels_of_reduction<Op, F, T, X...>();
    k.f = &f;
    const array_loops all(l, y, x...);
    if (l.size() == 0)
      k.fill(all.at[0], elements_of(all, 0));
    else if constexpr (runs_as_call<Space>)
      reduce_blocks(all, k);
    else
      reduce_in_pieces<Space>(all, k);
  } else {
    if (moves_to_host<Space>()) return reduce_to<host_space, Op>(l, f, y, x...);
    reduce_parts<Space, Op>(l, f, y, x...);
  }
}

}  // namespace detail

/// y = f(x...) joined by plus, times, greatest or least over every group that y lacks (stride 0). y
/// is contiguous, its groups in any order. Sums of bfloat16 are formed in float and rounded once.
template <class Space = default_space, class Join, class Y, class F, class... X>
void map_reduce_over(Join, const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f, Y* y,
                     const X*... x) {
  static_assert(detail::is_stageable<computed<Y>> && (detail::is_stageable<X> && ...),
                "dimesh: elements that are joined have no size of a word");
  index_t size = 1;
  for (int g = 0; g < l.groups; ++g) size *= l.stride[0][g] != 0 ? l.extent[g] : 1;
  const dimesh::detail::rounded_sums<Y> sums(y, size);
  detail::reduce_to<Space, Join>(l, f, sums.data(), x...);
  sums.finish();
}

}  // namespace dimesh::local
