// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is an attention to be computed, and of which pieces do its kernels consist? Queries meet
// keys tile by tile in scratch memory of fixed size; strips of queries skip the keys that none of
// them sees, so that a causal mask halves the work. Products of tiles: attention_products.hpp.
//
//   attention_tile<T>(problem, 0, 192).range[2]    -> the keys of this tile that strip 2 computes
#pragma once

#include <cstdint>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/elementary.hpp"
#include "dimesh/local/gemm.hpp"
#include "dimesh/local/tile.hpp"
#include "dimesh/local/visibility.hpp"
#include "dimesh/random.hpp"

namespace dimesh::local {

/// Attention of `queries` to `keys`, each a vector of `head` contiguous elements, in a nest of
/// outer loops. Strides in elements; that of a loop that an operand does not have is 0. The result
/// has the strides of q.
struct attention_problem {
  index_t queries = 0, keys = 0, head = 0;
  index_t q_row = 0, k_row = 0, v_row = 0, log_row = 0;  ///< from one query or key to the next
  index_t position = 0;  ///< of the first query, among the keys
  visibility sees{};
  const index_t* lengths = nullptr;  ///< how many keys there are to see; null: all
  segment_ids ids{};
  double scale = 1;
  bool short_factors = false;  ///< a device's products may read 11 bits of a float

  struct loop {
    index_t extent = 1, q = 0, k = 0, v = 0, log = 0;
    index_t draw = 0;  ///< step of the index by which random numbers are drawn
    index_t length = 0, query_id = 0, key_id = 0;
  };
  int outer = 0;
  loop loops[max_dims]{};

  double dropout = 0;  ///< the probability that a weight is dropped
  random_key key{0};
  index_t first_draw = 0;  ///< global index of the first query, all dims but the keys counted
  index_t draw_row = 1;    ///< step of that index from query to query

  constexpr index_t turns() const {
    index_t n = 1;
    for (int i = 0; i < outer; ++i) n *= loops[i].extent;
    return n;
  }
};

namespace detail {
inline namespace DIMESH_REGISTERS {

constexpr index_t rounded_up(index_t n, index_t step) { return (n + step - 1) / step * step; }

/// exp(x) for x that is at most a rounding error above 0; 0 for -inf and what is below the normal
/// range. Scores are brought there by their maximum or the logarithm of their sum.
template <class T> KOKKOS_FORCEINLINE_FUNCTION T exp_below_zero(T x) {
  using namespace elementary;
  constexpr T low = -T(ieee<T>::bias) * T(0.69314718055994530942);
  const exp_parts<T> p(choose(x < low, low, x));
  return (T(1) + (p.r + p.r * p.r * ieee<T>::tail(p.r))) * exp2_whole<T>(p.n);
}

/// Sizes of tiles: so many queries meet so many keys at once. Strips of `register_rows` queries
/// skip keys in granules; keys lie transposed in strips of `key_strip`.
template <class T> struct attention_sizes {
  static constexpr index_t granule = std::max<index_t>(register_rows, lanes<T>);
  static constexpr index_t key_strip = 3 * granule;
  static constexpr index_t keys = 4 * key_strip;
  static constexpr index_t queries = 8 * register_rows;
  static constexpr index_t strips = queries / register_rows;
  static constexpr index_t row = keys + lanes<T>;  // no power of two: columns are walked, too
};

/// The keys of a tile that a strip of queries computes: [first, last), in granules.
struct key_range {
  index_t first = 0, last = 0;
  bool empty() const { return first >= last; }
};

/// A tile: queries [query, query + rows) of the block, keys [key, key + length).
template <class T> struct attention_tile {
  using sizes = attention_sizes<T>;
  index_t query, rows, key, length;
  key_range range[sizes::strips];
  bool mixed[sizes::strips] = {};  // ids within the range differ: some queries do not see some keys

  attention_tile(const attention_problem& x, index_t q, index_t k)
      : query(q),
        rows(std::min(sizes::queries, x.queries - q)),
        key(k),
        length(std::min(sizes::keys, x.sees.keys - k)) {
    constexpr index_t g = sizes::granule;
    id_range ids[sizes::keys / g];
    for (index_t b = 0; x.ids.any() && b < length; b += g)
      ids[b / g] = x.ids.of_keys(key + b, std::min(g, length - b));
    for (index_t s = 0; s < strips(); ++s) {
      const index_t at = x.position + q + s * register_rows;
      const index_t a = std::max(x.sees.begin(at) - key, index_t(0));
      const index_t b = std::min(x.sees.end(at + rows_of(s) - 1) - key, length);
      range[s] = a < b ? key_range{a / g * g, rounded_up(b, g)} : key_range{};
      if (x.ids.any()) narrow(s, x.ids.of_queries(q + s * register_rows, rows_of(s)), ids);
    }
  }
  /// Strip s, whose queries have ids within `own`, skips granules at both ends that it cannot see.
  void narrow(index_t s, const id_range& own, const id_range* ids) {
    constexpr index_t g = sizes::granule;
    key_range& r = range[s];
    while (!r.empty() && !own.meets(ids[r.first / g])) r.first += g;
    while (!r.empty() && !own.meets(ids[r.last / g - 1])) r.last -= g;
    for (index_t k = r.first; k < r.last; k += g) mixed[s] |= !own.is_only(ids[k / g]);
  }
  index_t strips() const { return (rows + register_rows - 1) / register_rows; }
  index_t rows_of(index_t s) const {
    return std::min<index_t>(register_rows, rows - s * register_rows);
  }
  /// The keys of the tile that row r sees, within the range of its strip.
  key_range seen(const attention_problem& x, index_t r) const {
    const key_range& in = range[r / register_rows];
    const index_t at = x.position + query + r;
    const index_t b = std::min(x.sees.end(at) - key, length);
    return {std::clamp(x.sees.begin(at) - key, in.first, in.last),
            std::clamp(b, in.first, in.last)};
  }
  /// Calls f(key) for each key of the tile that row r sees.
  template <class F> void for_each_seen(const attention_problem& x, index_t r, const F& f) const {
    const key_range in = seen(x, r);
    const bool all = !mixed[r / register_rows];
    const index_t own = x.ids.of_query(query + r);
    for (index_t k = in.first; k < in.last; ++k)
      if (all || x.ids.keys[key + k] == own) f(k);
  }
  /// Do all rows of strip s see all keys of its range? (The first row sees no further than others,
  /// the last one not as far back.)
  bool sees_all(const attention_problem& x, index_t s) const {
    const index_t r = s * register_rows;
    return !mixed[s] && seen(x, r + rows_of(s) - 1).first == range[s].first &&
           seen(x, r).last == std::min(range[s].last, length);
  }
  /// The keys of all strips that hide some of theirs from some of their rows.
  key_range partly_seen(const attention_problem& x) const {
    key_range all;
    for (index_t s = 0; s < strips(); ++s) {
      if (range[s].empty() || sees_all(x, s)) continue;
      const index_t last = std::min(range[s].last, length);
      all = all.empty() ? key_range{range[s].first, last}
                        : key_range{std::min(all.first, range[s].first), std::max(all.last, last)};
    }
    return all;
  }
};

/// Rows [from, to) of y (keys, head), which begin y_row apart, as strips (strip, head, key_strip).
template <class T>
void transpose_keys(index_t from, index_t to, index_t head, const T* y, index_t y_row, T* y_t) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t C = attention_sizes<T>::key_strip;
  for (index_t k = from / C * C; k < to; k += C) {
    T* strip = y_t + k * head;
    const index_t n = std::min(C, to - k);
    transpose_tile(y + k * y_row, y_row, strip, C, head, n);
    for (index_t h = 0; n < C && h < head; ++h)
      std::fill(strip + h * C + n, strip + (h + 1) * C, T(0));
  }
}

/// to (rows, row) = factor * from (rows, head); columns from head on are zero.
template <class T>
void copy_rows(index_t rows, index_t head, T factor, const T* from, index_t from_row, T* to,
               index_t to_row) {
  const dimesh::detail::writes_memory kernel;
  for (index_t r = 0; r < rows; ++r, from += from_row, to += to_row) {
#pragma omp simd
    for (index_t h = 0; h < head; ++h) to[h] = factor * from[h];
    for (index_t h = head; h < to_row; ++h) to[h] = T(0);
  }
}

/// Which weights survive dropout, by 16 random bits each: a draw serves keys j, j + 8, .. of its
/// block of 64, so that eight draws make 64 numbers in vectors.
template <class T> struct dropout_row {
  static constexpr index_t block = 64, draws = 8;
  T keep[attention_sizes<T>::keys + 2 * block];

  /// keep[j] = 0 or 1 / (1 - p) for the keys [first, last); returns where `first` stands.
  const T* fill(const attention_problem& x, index_t draw, index_t first, index_t last) {
    const dimesh::detail::writes_memory kernel;
    const auto limit = static_cast<std::uint32_t>(x.dropout * 0x1p16);
    const T weight = T(1 / (1 - static_cast<double>(limit) * 0x1p-16));
    const index_t begin = first / block * block;
    const index_t row = draw * ((x.keys + block - 1) / block);
    for (index_t j = begin; j < last; j += block) {
      const index_t at = (row + j / block) * draws;
      T* to = keep + (j - begin);
#pragma omp simd
      for (index_t i = 0; i < draws; ++i) {
        const random_words w = x.key.at(at + i);
        for (int k = 0; k < 4; ++k) {
          to[i + 2 * k * draws] = (w.word[k] & 0xffffu) >= limit ? weight : T(0);
          to[i + (2 * k + 1) * draws] = w.word[k] >> 16 >= limit ? weight : T(0);
        }
      }
    }
    return keep + (first - begin);
  }
};

}  // namespace DIMESH_REGISTERS
}  // namespace detail
}  // namespace dimesh::local
