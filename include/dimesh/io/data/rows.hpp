// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a record become a row of each tensor of a batch? Member k of the record, a number or a
// range of numbers, is the row of tensor k: of its dims but the first one, row-major. A rank keeps
// the part of the row that its block holds.
//
//   rows_of<Record> plan(batch, tensors...)     plan.put(record, b, buffers)
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/element/element_traits.hpp"
#include "dimesh/error.hpp"
#include "dimesh/layout/block.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::detail {
struct tensor_facts;
}

namespace dimesh::input::detail {

template <class R> concept Number = std::is_arithmetic_v<R>;
template <class R>
concept NumberRange = requires(const R& r) {
  { *std::data(r) } -> std::convertible_to<double>;
  std::size(r);
};
template <class R> concept TupleLike = !NumberRange<R> && requires { std::tuple_size<R>::value; };

template <class R> struct members_of {
  static constexpr std::size_t count = 1;
};
template <TupleLike R> struct members_of<R> {
  static constexpr std::size_t count = std::tuple_size_v<R>;
};
template <std::size_t K, class R> const auto& member(const R& r) {
  if constexpr (TupleLike<R>)
    return std::get<K>(r);
  else
    return r;
}
template <class R, class Places> struct all_members;
template <class R, std::size_t... K> struct all_members<R, std::index_sequence<K...>> {
  template <class Part> static constexpr bool is_row = Number<Part> || NumberRange<Part>;
  static constexpr bool rows =
      (is_row<std::remove_cvref_t<decltype(member<K>(std::declval<const R&>()))>> && ...);
};
/// Is every member of a record a number or a range of numbers?
template <class R>
inline constexpr bool is_record =
    all_members<R, std::make_index_sequence<members_of<R>::count>>::rows;

/// What a rank holds of a tensor whose rows are records.
struct row_place {
  std::string name;
  block rows;                // of the batch
  std::vector<block> inner;  // of the other dims
  std::vector<index_t> extents;
  index_t local = 1, whole = 1;  // elements of a row: in the block, in the tensor
  std::size_t element = 0;       // bytes
  element_kind kind = element_kind::other;
  index_t member = 0;  // of the record; -1: the mask
  const dimesh::detail::space_facts* home = nullptr;  // where the tensor lives
  bool is_near = true;                                // may the host write there?
  const dimesh::detail::space_facts* space = nullptr; // where the block is made
  const dimesh::detail::tensor_facts* facts = nullptr;  // of the tensor: its layout

  std::size_t bytes() const { return static_cast<std::size_t>(rows.length * local) * element; }
  bool has(index_t row) const { return row >= rows.offset && row < rows.offset + rows.length; }
  /// Calls f(from, to, n) for the runs of a row that are next to each other in both.
  template <class F> void for_each_run(const F& f) const {
    if (local == whole) return f(index_t{0}, index_t{0}, whole);
    const int last = static_cast<int>(inner.size()) - 1;
    const index_t run = inner[static_cast<std::size_t>(last)].length;
    for (index_t n = 0; run > 0 && n < local / run; ++n) {
      index_t from = inner[static_cast<std::size_t>(last)].offset, rest = n, stride = 1;
      for (int d = last - 1; d >= 0; --d) {
        const auto at = static_cast<std::size_t>(d);
        stride *= extents[at + 2];  // of the dim behind; extents[0] is the batch's
        from += (inner[at].offset + rest % inner[at].length) * stride;
        rest /= inner[at].length;
      }
      f(from, n * run, run);
    }
  }
};

template <class T, class V> T converted(const V& v) {
  return static_cast<T>(static_cast<computed<T>>(v));
}

/// Member K of a record to a row of elements T.
template <class T, std::size_t K, class R>
void put_member(const R& record, const row_place& p, std::byte* to) {
  const auto& from = member<K>(record);
  T* const out = reinterpret_cast<T*>(to);
  if constexpr (Number<std::remove_cvref_t<decltype(from)>>) {
    if (p.whole != 1)
      throw error("the record has one number for '" + p.name + "', whose rows have " +
                  std::to_string(p.whole) + " elements");
    if (p.local == 1) *out = converted<T>(from);
  } else {
    if (static_cast<index_t>(std::size(from)) != p.whole)
      throw error("the record has " + std::to_string(std::size(from)) + " numbers for '" + p.name +
                  "', whose rows have " + std::to_string(p.whole) + " elements");
    const auto* const values = std::data(from);
    p.for_each_run([&](index_t at, index_t begin, index_t n) {
      std::transform(values + at, values + at + n, out + begin,
                     [](const auto& v) { return converted<T>(v); });
    });
  }
}
template <class R> using put_row = void (*)(const R&, const row_place&, std::byte*);

template <class T, class R, class Places> struct puts_of;
template <class T, class R, std::size_t... K> struct puts_of<T, R, std::index_sequence<K...>> {
  static constexpr put_row<R> all[] = {put_member<T, K, R>...};
};
/// Function k of it puts member k of R into rows of T.
template <class T, class R>
constexpr const put_row<R>* puts =
    puts_of<T, R, std::make_index_sequence<members_of<R>::count>>::all;

/// The mask's row: 1.
template <class T> void put_one(std::byte* to) { *reinterpret_cast<T*>(to) = converted<T>(1); }

/// What writes rows of one kind of element: members of R, or the mask's 1.
template <class R> struct row_writer {
  element_kind kind;
  const put_row<R>* put;
  void (*put_one)(std::byte*);

  template <class T> static constexpr row_writer of() {
    return {element_traits<T>::kind, puts<T, R>, detail::put_one<T>};
  }
};

}  // namespace dimesh::input::detail
