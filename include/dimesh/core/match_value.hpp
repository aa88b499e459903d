// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a cotangent that a user gives have the extents of what it belongs to? Its type says the dims
// and the layout; extents, grid and cuts are the run's. Memory and loops are those of the value: a
// longer cotangent would be written beyond its end.
//
//   match_value({"vjp", "the cotangent", "the function's value"}, ybar, y)
#pragma once

#include "dimesh/core/tensor_core.hpp"

namespace dimesh::detail {

/// Words for what is compared.
struct pair_names {
  std::string_view call, given, value;
};

[[noreturn]] inline void refuse_pair_grids(const pair_names& n) {
  (words() << n.call << ": " << n.given << " lives on another grid than " << n.value
           << "; make it on that one, or bring it there with relayout")
      .raise();
}
[[noreturn]] inline void refuse_pair_cuts(const pair_names& n, const dim_facts* d) {
  (words() << n.call << ": " << n.given << " cuts dim '" << d->name << "' otherwise than "
           << n.value << "; relayout it")
      .raise();
}
[[noreturn]] inline void refuse_pair_extents(const pair_names& n, const dim_facts* d, index_t given,
                                             index_t value) {
  (words() << n.call << ": " << n.given << " has " << given << " elements along dim '" << d->name
           << "', " << n.value << " has " << value)
      .raise();
}

/// Throws dimesh::error, on every rank alike, unless `given`, which has the dims of `value`, has
/// its extents on its grid, and cuts ragged dims as it does.
constexpr void match_value(const pair_names& names, const tensor_core& given,
                           const tensor_core& value) {
  if (!given.is_shape || !value.is_shape) require_grid(names.call, given);
  if (given.grid != value.grid) refuse_pair_grids(names);
  for (int d = 0; d < given.rank(); ++d) {
    const dim_facts* const dim = given.facts->dim[d];
    if (given.extent(d) != value.extent(d))
      refuse_pair_extents(names, dim, given.extent(d), value.extent(d));
    if ((given.facts->ragged >> d & 1u) == 0) continue;
    const cut_record* const here = cuts_of_dim(given.cuts.first(), dim);
    const cut_record* const there = cuts_of_dim(value.cuts.first(), dim);
    if (here != there && here->begin != there->begin) refuse_pair_cuts(names, dim);
  }
}

}  // namespace dimesh::detail
