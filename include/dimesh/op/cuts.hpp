// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long are the blocks of a ragged dim? A table of cuts says it, the same on all ranks: any
// lengths in order of the blocks, none of them special, 0 too. It stands where an extent would.
//
//   zeros<tensor<float, layout<pod, split<ragged<token>, rows>>, token>>(g, cuts<token>{3, 0, 5})
//   own<ragged<token>, rows>(with_cuts(x, cuts<token>{3, 0, 5}))     -> blocks of 3, 0, 5
//   cuts_by_speed<token>(100, {1, 3})                                -> 25, 75
//   cuts_of<token>(x).at(2)                                          -> {offset 3, length 5}
#pragma once

#include <initializer_list>
#include <span>

#include "dimesh/detail/number_given.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

/// Where a dim is cut into blocks, which belong to the ranks along the axes that split it, the
/// major axis first. All ranks make the same.
template <Dim D> class [[nodiscard]] cuts {
 public:
  using dims = detail::list<D>;

  /// From the lengths of the blocks, at least one. Throws dimesh::error where one is negative.
  explicit cuts(std::span<const index_t> lengths) {
    std::vector<index_t> begin{0};
    for (const index_t n : lengths) {
      if (n < 0)
        (detail::words() << "cuts: block " << static_cast<index_t>(begin.size()) - 1 << " of dim '"
                         << detail::name_of<D>() << "' has length " << n
                         << "; lengths are not negative")
            .raise();
      begin.push_back(begin.back() + n);
    }
    list_.add(&detail::facts_of_dim<D>, std::move(begin));
  }
  cuts(std::initializer_list<index_t> lengths)
      : cuts(std::span<const index_t>(lengths.begin(), lengths.size())) {}
  explicit cuts(const detail::cut_record& r) { list_.add(&detail::facts_of_dim<D>, r.begin); }

  index_t blocks() const { return list_.first()->ranks(); }
  template <Dim E> index_t extent() const { return list_.first()->extent(); }
  index_t extent() const { return list_.first()->extent(); }
  /// Block i: its first element and its length.
  block at(index_t i) const { return list_.first()->at(i, blocks()); }
  bool operator==(const cuts& o) const { return list_.first()->begin == o.list_.first()->begin; }

  const detail::cut_list& list() const { return list_; }

 private:
  detail::cut_list list_;
};

/// n elements in blocks of ceil(n/p), the last ones shorter or empty: those of uneven<D> over one
/// axis of p ranks. Throws dimesh::error unless n >= 0 and p > 0.
template <Dim D> cuts<D> cuts_by_ceil(index_t n, index_t p) {
  detail::require_not_negative("cuts_by_ceil", "number of elements", static_cast<double>(n));
  detail::require_positive("cuts_by_ceil", "number of blocks", static_cast<double>(p));
  return cuts<D>(*detail::cut_by_ceil(&detail::facts_of_dim<D>, n, p).first());
}

/// n elements in proportion to the speeds of ranks: each block has its share, rounded so that they
/// add up. All ranks pass the same speeds. Throws dimesh::error where one is not positive or 0, or
/// none is positive.
template <Dim D> cuts<D> cuts_by_speed(index_t n, std::span<const double> speeds) {
  double all = 0;
  for (const double s : speeds) {
    if (!(s >= 0 && s < 1e300))
      throw error(
          "cuts_by_speed: a speed is negative or no number; a rank that does nothing has 0");
    all += s;
  }
  if (!(all > 0)) throw error("cuts_by_speed: no rank has a speed; one must be positive");
  std::vector<index_t> lengths;
  double before = 0;
  index_t begin = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    before += speeds[i];
    const bool last = i + 1 == speeds.size();
    const index_t end =
        last ? n : std::min(n, static_cast<index_t>(static_cast<double>(n) * (before / all) + 0.5));
    lengths.push_back(end - begin);
    begin = end;
  }
  return cuts<D>(lengths);
}
template <Dim D> cuts<D> cuts_by_speed(index_t n, std::initializer_list<double> speeds) {
  return cuts_by_speed<D>(n, std::span<const double>(speeds.begin(), speeds.size()));
}

/// The cuts of dim D of a tensor. Throws dimesh::error where there are none.
template <Dim D, Operand X> cuts<D> cuts_of(const X& x) {
  const detail::cut_record* const r =
      detail::cuts_of_dim(detail::core_of(x).cuts.first(), &detail::facts_of_dim<D>);
  if (r == nullptr)
    (detail::words() << "cuts_of: the tensor has no cuts of dim '" << detail::name_of<D>()
                     << "'; give it some by with_cuts")
        .raise();
  return cuts<D>(*r);
}

/// x, with a table of cuts for D that operations use where they make D ragged: own<ragged<D>, A>,
/// relayout. Nothing is copied. Throws dimesh::error where D is ragged already and cut otherwise.
template <Dim D, Operand X> X with_cuts(const X& x, const cuts<D>& how) {
  X y(x);
  detail::tensor_core& core = detail::core_of(y);
  const detail::dim_facts* const d = &detail::facts_of_dim<D>;
  const detail::cut_record* const had = detail::cuts_of_dim(core.cuts.first(), d);
  if (const int at = core.facts->place_of(d); at >= 0 && (core.facts->ragged >> at & 1u)) {
    if (had->begin != how.list().first()->begin)
      (detail::words() << "with_cuts: dim '" << detail::name_of<D>()
                       << "' is ragged already, and cut otherwise; relayout it first")
          .raise();
    return y;
  }
  detail::cut_list all = how.list();
  all.add_all(core.cuts);
  core.cuts = all;
  return y;
}

}  // namespace dimesh
