// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many rows has a micro-batch? All have as many: a batch is cut into equal ones.
//
//   struct batch : dim<512> {};
//   struct micro : dim<micro_extent<batch, 8>()> {};     // 64; of 7 the compiler says no
//   micro_extent(rows{n}, 8)                             // the same where the run gives n
#pragma once

#include "dimesh/detail/names.hpp"
#include "dimesh/dim.hpp"
#include "dimesh/error.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh {

namespace detail::pipeline {
constexpr bool divides_micros(index_t extent, index_t micros) {
  return micros >= 1 && extent >= 0 && extent % micros == 0;
}
}  // namespace detail::pipeline

/// The extent that D, which has a static one, has in each of so many micro-batches.
template <Dim D, index_t Micros>
  requires(is_static_dim<D>)
constexpr index_t micro_extent() {
  constexpr bool divides = detail::pipeline::divides_micros(static_extent<D>, Micros);
  using fault = std::conditional_t<divides, no_fault,
                                   micro_batches_do_not_divide<D, static_extent<D>, Micros>>;
  static_assert(ok<fault>,
                "micro_extent: the batch does not make so many equal micro-batches; take another "
                "number, or fill the last one up and mask the rows that are none");
  if constexpr (divides)
    return static_extent<D> / Micros;
  else
    return static_extent<D>;
}

/// The same of a dim with its extent, D{n}. Throws dimesh::error where they would not be equal.
template <Dim D> index_t micro_extent(const D& whole, index_t micros) {
  index_t n = 0;
  if constexpr (is_static_dim<D>)
    n = static_extent<D>;
  else
    n = detail::number_in(whole);
  if (!detail::pipeline::divides_micros(n, micros))
    throw error("micro_extent: " + std::to_string(n) + " elements of dim " + detail::quoted<D>() +
                " do not make " + std::to_string(micros) +
                " equal micro-batches; take another number, or fill the last one up and mask the "
                "rows that are none");
  return n / micros;
}

}  // namespace dimesh
