// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one compute on the first part of an all-to-all while the rest travels? A dim that the
// move does not concern is cut into chunks; all chunks start, and a function gets each as it comes.
// What it makes of them can be joined again.
//
//   auto out = all_to_all_in_chunks<token, expert, rows, hidden, part>(x, 4, [&](const auto& c) {
//     return start_all_to_all<expert, token, rows>(relu(c));        // part in the place of hidden
//   });
//   join_chunks<part, hidden>(std::move(out))   -> like x; the gradient goes through it all
#pragma once

#include <vector>

#include "dimesh/op/parts/along.hpp"
#include "dimesh/op/parts/strided.hpp"
#include "dimesh/op/start.hpp"

namespace dimesh {

namespace detail {

template <class T> struct chunk_back_op;

/// The elements [begin, begin + count) of dim d, which is then another dim.
template <class T> struct chunk_op {
  int d;
  index_t begin, count;
  const dim_facts* part;
  static constexpr std::string_view call = "all_to_all_in_chunks";
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* dim) const {
    return same_dim(dim, part) ? count : dynamic;
  }
  void fill(results y, operands x) const {
    copy_part(x[0].data<const T>(), stored_array(x[0]).part(d, begin, count), y[0].data<T>(),
              stored_array(y[0]));
  }
  constexpr void cost(tally& t, results y, operands) const { t.compute(0, 2 * y[0].bytes()); }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, chunk_back_op<T>{d, begin, to.x(0).facts->dim[d], to.x(0).extent(d)}, to.ybar);
  }
};
/// A chunk in its place among zeros.
template <class T> struct chunk_back_op {
  int d;
  index_t begin;
  const dim_facts* whole;
  index_t extent;
  static constexpr std::string_view call = "all_to_all_in_chunks";
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* dim) const {
    return same_dim(dim, whole) ? extent : dynamic;
  }
  void fill(results y, operands x) const {
    zero_bytes(y[0].memory.data(), y[0].bytes());
    copy_part(x[0].data<const T>(), stored_array(x[0]), y[0].data<T>(),
              stored_array(y[0]).part(d, begin, x[0].extent(d)));
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + 2 * x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, chunk_op<T>{d, begin, to.x(0).extent(d), to.x(0).facts->dim[d]}, to.ybar);
  }
};
/// Chunks one after another along dim d, which is then another dim.
template <class T> struct join_chunks_op {
  int d;
  const dim_facts* whole;
  index_t extent;
  static constexpr std::string_view call = "join_chunks";
  static constexpr bool takes_complex = true;

  constexpr index_t extent_of(const dim_facts* dim) const {
    return same_dim(dim, whole) ? extent : dynamic;
  }
  void fill(results y, operands x) const {
    const array_box all = stored_array(y[0]);
    index_t begin = 0;
    for (int k = 0; k < x.count(); begin += x[k++].extent(d))
      copy_part(x[k].data<const T>(), stored_array(x[k]), y[0].data<T>(),
                all.part(d, begin, x[k].extent(d)));
  }
  constexpr void cost(tally& t, results y, operands) const { t.compute(0, 2 * y[0].bytes()); }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    index_t begin = 0;
    for (int k = 0; k < to.count(); begin += to.x(k++).extent(d))
      to.give(k, chunk_op<T>{d, begin, to.x(k).extent(d), to.x(k).facts->dim[d]}, to.ybar);
  }
};

/// From, which no axis splits, gives its place to To.
template <class From, class To> struct chunk_rule {
  using named = list<From, To>;
  template <class First, class...> struct dims : replaced_dims<From, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list) {
    constexpr auto &from = facts_of_dim<From>, &to = facts_of_dim<To>;
    const int d = x[0].place_of(&from);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, &from);
    if (x[0].place_of(&to) >= 0) return blamed(fault_code::dim_already_in_tensor, &to);
    if (const unsigned axes = x[0].layout.axes_of(d); axes != 0)
      return blamed(fault_code::dim_is_split, &from, first_axis(axes));
    return without_halos_only(x[0], allowed(x[0].layout));
  }
};

constexpr void require_chunks(index_t extent, index_t chunks, std::string_view dim,
                              index_t of_part) {
  if (chunks >= 1 && chunks <= max_operands && extent % chunks == 0 &&
      (of_part == dynamic || of_part * chunks == extent))
    return;
  words w;
  w << "all_to_all_in_chunks: the " << extent << " elements of dim '" << dim
    << "' cannot be cut into " << chunks << " chunks";
  if (of_part != dynamic) w << " of " << of_part;
  w << "; their number is 1 to " << max_operands << ", and their length what the extent says";
  w.raise();
}
/// What a function's results become that are moves themselves.
template <class Y> constexpr auto settled_chunk(Y&& y) {
  if constexpr (is_started<std::remove_cvref_t<Y>>)
    return await(std::forward<Y>(y));
  else
    return std::forward<Y>(y);
}

}  // namespace detail

/// f of each chunk of all_to_all<From, To, A>(x): D, which is neither of these nor split, is cut
/// into 1 to 16 equal `chunks`, in which dim Part stands for it. All are started before f is called
/// for the first; what f returns, tensors or moves started by it, comes back in order, awaited.
/// Throws dimesh::error if D cannot be cut so.
template <Dim From, class To, Axis A, Dim D, Dim Part, Operand X, class F>
constexpr auto all_to_all_in_chunks(const X& x, index_t chunks, const F& f) {
  using rule = detail::chunk_rule<D, Part>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "all_to_all_in_chunks: the tensor lacks the dim to be cut; name one of its dims");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "all_to_all_in_chunks: the tensor has the dim that is to stand for the chunks; "
                "choose another name");
  static_assert(ok<only<fault, dim_is_split>>,
                "all_to_all_in_chunks: an axis splits the dim to be cut; name one that is whole");
  static_assert(ok<only<fault, dim_has_halo>>,
                "all_to_all_in_chunks: the blocks carry halos; move them before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using T = value_of<X>;
    const index_t extent = x.template extent<D>(), n = chunks > 0 ? extent / chunks : 0;
    detail::require_chunks(extent, chunks, detail::name_of<D>(), static_extent<Part>);
    constexpr int d = detail::index_of<D, typename spec_of<X>::dims>;
    const auto start = [&x, n](index_t k) {
      return start_all_to_all<From, To, A>(detail::apply_rule<rule, T>(
          detail::chunk_op<T>{d, k * n, n, &detail::facts_of_dim<Part>}, x));
    };
    using coming = decltype(start(0));
    if constexpr (std::is_same_v<coming, poison>) {
      return poison{};
    } else {
      using made = std::remove_cvref_t<decltype(f(await(std::declval<coming>())))>;
      std::vector<coming> on_their_way;
      for (index_t k = 0; k < chunks; ++k) on_their_way.push_back(start(k));
      if constexpr (std::is_void_v<made>) {
        for (coming& c : on_their_way) f(await(std::move(c)));
      } else {
        std::vector<made> results;
        for (coming& c : on_their_way) results.push_back(f(await(std::move(c))));
        std::vector<decltype(detail::settled_chunk(std::declval<made>()))> all;
        for (made& y : results) all.push_back(detail::settled_chunk(std::move(y)));
        return all;
      }
    }
  }
}

/// The chunks, all of one type, one after another: dim D, as long as they are together, in the
/// place of Part. Throws dimesh::error where there is none, or more than 16: they are operands of
/// one operation, which has no more. Of more, join some at a time to a dim of their own, and then
/// what comes of that.
template <Dim Part, Dim D, Operand X> constexpr auto join_chunks(const std::vector<X>& chunks) {
  using rule = detail::chunk_rule<Part, D>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, dim_not_in_tensor>>,
      "join_chunks: the chunks lack the dim along which to join them; name one of theirs");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "join_chunks: the chunks have the new dim already; choose another name");
  static_assert(ok<only<fault, dim_is_split>>,
                "join_chunks: an axis splits the dim along which to join; gather it first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "join_chunks: the chunks carry halos; join them before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    using T = value_of<X>;
    using S = detail::spec_by_rule<rule, T, X>;
    constexpr int depth = detail::tracked_depth<X>;
    constexpr int d = detail::index_of<Part, typename spec_of<X>::dims>;
    index_t extent = 0;
    for (const X& x : chunks) extent += x.template extent<Part>();
    const auto count = static_cast<index_t>(chunks.size());
    if (count < 1 || count > detail::max_operands ||
        (static_extent<D> != dynamic && static_extent<D> != extent))
      (detail::words() << "join_chunks: " << count << " chunks of together " << extent
                       << " elements make no dim '" << detail::name_of<D>()
                       << "'; there are 1 to 16 of them, as an operation has no more operands "
                          "(join some first, to a dim of their own), and they have its extent")
          .raise();
    detail::bound<detail::join_chunks_op<T>, depth> it({d, &detail::facts_of_dim<D>, extent});
    if constexpr (depth > 1) it.sum = &detail::sum_recorded<T, depth - 1>;
    typename detail::result_type<S, detail::is_shaped<X>, depth>::type y;
    if constexpr (detail::is_probe<X>)
      detail::core_of(y).facts = &detail::result_facts<rule, T>("join_chunks", chunks.front());
    detail::tensor_core* const to[] = {&detail::core_of(y)};
    detail::operand in[detail::max_operands] = {};
    for (std::size_t k = 0; k < chunks.size(); ++k)
      in[k] = {&detail::core_of(chunks[k]), detail::core_of(chunks[k]).record};
    detail::evaluate(it, detail::results(to, 1), in, static_cast<int>(count));
    return y;
  }
}

}  // namespace dimesh
