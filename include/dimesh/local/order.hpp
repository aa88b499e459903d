// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order do elements along one dim stand by size? Elements become numbers that are in the
// same order, and are sorted by their bytes: no comparison is guessed wrong, and equal ones stay as
// they stand.
//
//   order_along({4, 10, 3, 8}, x, false, ids)    // ids: places of the 3 smallest of 10, in order
//   nth_along({4, 10, 1, 8}, x, 5, true, ids)    // ids: places of the medians
//
// NaN counts as greater than all numbers. On the host.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/local/columns.hpp"

namespace dimesh::local {

namespace detail {

/// An element and where it stood. The place makes every order a stable one.
template <class T, class I> struct placed_element {
  T value;
  I at;
};
template <bool Descending> struct before {
  static constexpr bool descending = Descending;
  template <class T, class I>
  bool operator()(const placed_element<T, I>& a, const placed_element<T, I>& b) const {
    return of(a.value, b.value) || (!of(b.value, a.value) && a.at < b.at);
  }
  /// The same of elements whose places do not matter.
  template <class T> static bool of(const T& a, const T& b) {
    return Descending ? greater(a, b) : greater(b, a);
  }

 private:
  template <class T> static bool greater(const T& a, const T& b) {
    return (static_cast<int>(a > b) | (static_cast<int>(a != a) & static_cast<int>(b == b))) != 0;
  }
};

template <class T>
using key_of_element = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Numbers that are less where elements are less, or where they are greater; of 0 and -0 the same,
/// and the same of all NaN.
template <class T> struct order_keys {
  using word = key_of_element<T>;
  static constexpr word sign = static_cast<word>(word(1) << (8 * sizeof(T) - 1)),
                        all = static_cast<word>(~word(0));
  word flip;

  explicit order_keys(bool descending) : flip(descending ? all : word(0)) {}
  word operator()(T x) const {
    if constexpr (std::floating_point<T>) {
      const auto bits = std::bit_cast<word>(x == T(0) ? T(0) : x);
      const word number = (bits & sign) != 0 ? ~bits : bits | sign;
      return (x != x ? all : number) ^ flip;
    } else {
      return static_cast<word>(static_cast<word>(x) ^ (std::is_signed_v<T> ? sign : 0) ^ flip);
    }
  }
};

/// The key of an element and where it stood.
template <class K, class I> struct keyed_place {
  K key;
  I at;
  friend bool operator<(const keyed_place& a, const keyed_place& b) {
    return a.key < b.key || (a.key == b.key && a.at < b.at);
  }
  template <int B> std::size_t byte() const { return key >> (8 * B) & 0xff; }
};

/// Sorts lines of places, given in their order, by their keys.
template <class K, class I> class key_sort {
 public:
  using element = keyed_place<K, I>;

  /// Of few, comparisons cost less than counts of bytes.
  void operator()(std::vector<element>& line) {
    if (line.size() < 64) return std::sort(line.begin(), line.end());
    spare_.resize(line.size());
    for (auto& c : count_) c.fill(0);
    by_bytes(line, std::make_integer_sequence<int, static_cast<int>(sizeof(K))>());
  }

 private:
  template <int... B> void by_bytes(std::vector<element>& line, std::integer_sequence<int, B...>) {
    for (const element& e : line) (++count_[B][e.template byte<B>()], ...);
    (by_byte<B>(line), ...);
  }
  /// The least byte first: equal ones stay in the order of the bytes behind.
  template <int B> void by_byte(std::vector<element>& line) {
    auto& begin = count_[B];
    if (begin[line[0].template byte<B>()] == line.size()) return;
    std::size_t all = 0;
    for (std::size_t& n : begin) all += std::exchange(n, all);
    for (const element& e : line) spare_[begin[e.template byte<B>()]++] = e;
    line.swap(spare_);
  }

  std::vector<element> spare_;
  std::array<std::array<std::size_t, 256>, sizeof(K)> count_;
};

/// The first `to` places in order, of all lines.
template <class T, class I> struct order_work {
  picked_lines l;
  const T* x;
  order_keys<T> key_of;
  I* ids;
  using word = typename order_keys<T>::word;
  using element = keyed_place<word, I>;
  static constexpr std::size_t most_in_order = 64;

  void operator()(index_t begin, index_t end) const {  // of outer * inner
    const dimesh::detail::writes_memory kernel;
    const columns_at_once columns(l, sizeof(word));
    const auto keys = std::make_unique_for_overwrite<word[]>(columns.elements());
    const auto places = std::make_unique_for_overwrite<I[]>(columns.elements());
    std::vector<element> line(static_cast<std::size_t>(l.to));
    key_sort<word, I> sort;
    for (index_t i = begin, n; i < end; i += n) {
      n = columns.count(i, end);
      columns.read(x, i, n, keys.get(), [this](T v, index_t) { return key_of(v); });
      for (index_t c = 0; c < n; ++c) {
        const word* const key = keys.get() + c * columns.apart;
        for (std::size_t k = 0; k < line.size(); ++k) line[k] = {key[k], static_cast<I>(k)};
        if (l.to == l.from)
          sort(line);
        else
          keep_first(line, key, static_cast<std::size_t>(l.from));
        I* const to = places.get() + c * columns.apart;
        for (std::size_t k = 0; k < line.size(); ++k) to[k] = line[k].at;
      }
      columns.write(places.get(), i, n, ids);
    }
  }

 private:
  /// The first of all keys: in order throughout if they are few, else on a heap, their last on top.
  /// Most blocks have none of them.
  static void keep_first(std::vector<element>& line, const word* keys, std::size_t all) {
    constexpr std::size_t block = 64;
    const bool few = line.size() <= most_in_order;
    if (few)
      std::sort(line.begin(), line.end());
    else
      std::make_heap(line.begin(), line.end());
    const element& last = few ? line.back() : line.front();
    for (std::size_t k = line.size(), stop; k < all; k = stop) {
      stop = std::min(k + block, all);
      if (!(least(keys + k, stop - k) < last.key)) continue;
      for (; k < stop; ++k) {
        if (!(keys[k] < last.key)) continue;
        const element e{keys[k], static_cast<I>(k)};
        if (few)
          put_in_order(line, e);
        else
          put_on_heap(line, e);
      }
    }
    if (!few) std::sort_heap(line.begin(), line.end());
  }
  static void put_in_order(std::vector<element>& line, const element& e) {
    std::size_t i = line.size() - 1;
    for (; i > 0 && e.key < line[i - 1].key; --i) line[i] = line[i - 1];
    line[i] = e;
  }
  static void put_on_heap(std::vector<element>& line, const element& e) {
    std::pop_heap(line.begin(), line.end());
    line.back() = e;
    std::push_heap(line.begin(), line.end());
  }
  KOKKOS_FORCEINLINE_FUNCTION static word least(const word* key, std::size_t n) {
    word m = order_keys<T>::all;
#pragma omp simd reduction(min : m)
    for (std::size_t i = 0; i < n; ++i) m = key[i] < m ? key[i] : m;
    return m;
  }
};

/// What order_work does, of elements that are wider than all keys: by comparisons.
template <bool Descending, class T, class I> struct compared_work {
  picked_lines l;
  const T* x;
  I* ids;

  void operator()(index_t begin, index_t end) const {  // of outer * inner
    const dimesh::detail::writes_memory kernel;
    const columns_at_once columns(l, sizeof(placed_element<T, I>));
    std::vector<placed_element<T, I>> lines(columns.elements());
    std::vector<I> places(columns.elements());
    for (index_t i = begin, n; i < end; i += n) {
      n = columns.count(i, end);
      columns.read(x, i, n, lines.data(),
                   [](T v, index_t k) { return placed_element<T, I>{v, static_cast<I>(k)}; });
      for (index_t c = 0; c < n; ++c) {
        const auto line = lines.begin() + c * columns.apart;
        std::partial_sort(line, line + l.to, line + l.from, before<Descending>{});
        I* const to = places.data() + c * columns.apart;
        for (index_t k = 0; k < l.to; ++k) to[k] = line[k].at;
      }
      columns.write(places.data(), i, n, ids);
    }
  }
};

/// The place of the element before which n others come, of all lines.
template <bool Descending, class T, class I> struct nth_work {
  picked_lines l;
  const T* x;
  index_t n;
  I* ids;

  void operator()(index_t begin, index_t end) const {  // of outer * inner
    const dimesh::detail::writes_memory kernel;
    const columns_at_once columns(l, sizeof(placed_element<T, I>));
    std::vector<placed_element<T, I>> lines(columns.elements());
    for (index_t i = begin, count; i < end; i += count) {
      count = columns.count(i, end);
      columns.read(x, i, count, lines.data(),
                   [](T v, index_t k) { return placed_element<T, I>{v, static_cast<I>(k)}; });
      for (index_t c = 0; c < count; ++c) {
        const auto line = lines.begin() + c * columns.apart, nth = line + n;
        std::nth_element(line, nth, line + l.from, before<Descending>{});
        ids[i + c] = nth->at;
      }
    }
  }
};

}  // namespace detail

namespace detail {
/// Where these kernels run: none is for devices.
template <class Space>
using ordering_space = std::conditional_t<runs_on_host<Space>, Space, host_space>;
}  // namespace detail

/// x (outer, from, inner) -> ids (outer, to, inner), to <= from: the places of the smallest
/// elements, or the greatest, in order; of equals the first place first. On the host.
template <class Space = default_space, class T, class I>
void order_along(const picked_lines& l, const T* x, bool descending, I* ids) {
  using space = detail::ordering_space<Space>;
  const index_t lines = l.outer * l.inner;
  if (l.to == 0) return;
  if constexpr (sizeof(T) == sizeof(detail::key_of_element<T>))
    in_ranges<space>(lines, detail::order_work<T, I>{l, x, detail::order_keys<T>(descending), ids});
  else if (descending)
    in_ranges<space>(lines, detail::compared_work<true, T, I>{l, x, ids});
  else
    in_ranges<space>(lines, detail::compared_work<false, T, I>{l, x, ids});
}

/// x (outer, from, inner) -> ids (outer, inner): the places of the elements before which n < from
/// others come, from the smallest or the greatest; of equals the first place first. On the host.
template <class Space = default_space, class T, class I>
void nth_along(const picked_lines& l, const T* x, index_t n, bool descending, I* ids) {
  using space = detail::ordering_space<Space>;
  const index_t lines = l.outer * l.inner;
  if (descending)
    in_ranges<space>(lines, detail::nth_work<true, T, I>{l, x, n, ids});
  else
    in_ranges<space>(lines, detail::nth_work<false, T, I>{l, x, n, ids});
}

}  // namespace dimesh::local
