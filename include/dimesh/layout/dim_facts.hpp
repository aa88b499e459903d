// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a dim as a value? Its name, its extent, and a number: one object for each type, whose
// address stands for the dim. Rules compare dims by these.
//
//   facts_of_dim<batch>.name    -> "batch"
//   dims_in<list<batch, hidden>>.place_of(&facts_of_dim<hidden>)  -> 1
#pragma once

#include <cstdint>
#include <string_view>

#include "dimesh/detail/name.hpp"
#include "dimesh/detail/types.hpp"
#include "dimesh/dim.hpp"

namespace dimesh::detail {

/// What a dim's type says.
struct dim_facts {
  std::string_view name;
  index_t extent;  // dynamic where the run gives it
  std::uint64_t number;
};
/// The number of a type: what constant expressions can compare.
template <class T> inline constexpr std::uint64_t type_number = number_of<T>();

template <class D>
inline constexpr dim_facts facts_of_dim{name_of<D>(), static_extent<D>, type_number<D>};

/// Is it the same dim? Addresses tell, but under sanitizers g++ 12 does not compare them in
/// constant expressions.
constexpr bool same_dim(const dim_facts* a, const dim_facts* b) {
  if (std::is_constant_evaluated()) return a->number == b->number;
  return a == b;
}

/// Dims in an order.
struct dim_list {
  const dim_facts* const* at;
  int size;

  constexpr const dim_facts* operator[](int i) const { return at[i]; }
  /// The place of a dim, -1 where there is none.
  constexpr int place_of(const dim_facts* d) const {
    for (int i = 0; i < size; ++i)
      if (same_dim(at[i], d)) return i;
    return -1;
  }
  constexpr bool has(const dim_facts* d) const { return place_of(d) >= 0; }
  /// The first place of a dim that stands there again, -1 if none does.
  constexpr int repeated() const {
    for (int i = 0; i < size; ++i)
      for (int j = i + 1; j < size; ++j)
        if (same_dim(at[i], at[j])) return i;
    return -1;
  }
};

template <class Dims> struct dim_addresses;
template <class... D> struct dim_addresses<list<D...>> {
  static constexpr const dim_facts* at[sizeof...(D) + 1] = {&facts_of_dim<D>..., nullptr};
};
/// A list of types as a value.
template <class Dims> inline constexpr dim_list dims_in{dim_addresses<Dims>::at, Dims::size};

}  // namespace dimesh::detail
