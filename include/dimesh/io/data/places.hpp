// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the rows of a batch's tensors lie on this rank? Tensors have no types here, so that it
// is compiled once for all layouts. Of those whose layout is a value it asks what types are asked
// while compiling.
//
//   const std::vector<row_place> all = places_of(&s, cores, count, path);
#pragma once

#include <string>
#include <vector>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/io/data/rows.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/reflect/paths.hpp"

namespace dimesh::input::detail {

using dimesh::detail::tensor_core;

/// Where the rows of these tensors are; `path` names them. Throws dimesh::error where one of them
/// is a sum yet to be made.
std::vector<row_place> places_of(const void* tensors, tensor_core* const* cores, int count,
                                 member_path (*path)(const void*, int));
/// Throws dimesh::error where rows of x are not at p: its layout is a value, and another one.
void require_place(const tensor_core& x, const row_place& p);

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline std::vector<row_place> places_of(const void* tensors,
                                                       tensor_core* const* cores, int count,
                                                       member_path (*path)(const void*, int)) {
  std::vector<row_place> all;
  for (int k = 0; k < count; ++k) {
    const tensor_core& x = *cores[k];
    row_place& p = all.emplace_back();
    p.name = path(tensors, k).text();
    if (p.name.empty()) p.name = "the tensor";
    if (x.layout().any_partial())
      throw error("input::batch: partial_operand: '" + p.name +
                  "' is a sum, to which several ranks would add the same records; give it a layout "
                  "that has no partial axis");
    p.rows = x.own(0);
    p.facts = x.facts;
    p.element = static_cast<std::size_t>(x.facts->element);
    p.kind = x.facts->kind;
    p.member = k;
    p.home = x.facts->space;
    p.is_near = dimesh::detail::facts_of_space(p.home).is_near;
    p.space = p.is_near ? p.home : &dimesh::detail::facts_of_memory<dimesh::detail::pinned_space>;
    for (int d = 0; d < x.rank(); ++d) p.extents.push_back(x.extent(d));
    for (int d = 1; d < x.rank(); ++d) {
      p.inner.push_back(x.own(d));
      p.local *= x.own(d).length;
      p.whole *= x.extent(d);
    }
  }
  return all;
}
DIMESH_OUTLINE inline void require_place(const tensor_core& x, const row_place& p) {
  if (p.facts->at_run_time && x.layout() != p.facts->layout)
    throw error("input: '" + p.name +
                "' has another layout than when its loader was made; ask for batches under the "
                "rules that batch() was called under");
}
#endif

}  // namespace dimesh::input::detail
