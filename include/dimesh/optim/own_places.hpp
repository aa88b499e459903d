// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do gradients and an optimizer's state live where their parameters do? Types say how they are laid
// out; grids and open extents are known only when a step is made.
//
//   require_place_of("adafactor", parameter, gradient)     // dimesh::error: another grid, lengths
//   require_places(parameters, n, {gradients, states})     // of n tensors each
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "dimesh/core/results.hpp"
#include "dimesh/core/rule.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

/// Throws dimesh::error unless a gradient or state of parameter p lives where p does, and its dims,
/// which p has, are as long.
[[gnu::noinline]] inline void require_extents_of(std::string_view call, const tensor_core& p,
                                                 const tensor_core& x) {
  if (!p.is_shape || !x.is_shape) require_grid(call, p.is_shape ? p : x);
  if (x.grid != p.grid) refuse_grids(call);
  for (int d = 0; d < x.rank(); ++d) {
    const dim_facts* const dim = x.facts->dim[d];
    const index_t wanted = p.extent(p.facts->place_of(dim));
    if (wanted != x.extent(d))
      (words() << call << ": dim '" << dim->name << "' has " << wanted
               << " elements in a parameter and " << x.extent(d)
               << " in its gradient or state; pass those of these parameters")
          .raise();
  }
}
/// The same of one that is as large, and lies as p does.
[[gnu::noinline]] inline void require_place_of(std::string_view call, const tensor_core& p,
                                               const tensor_core& x) {
  require_extents_of(call, p, x);
  if (p.facts->at_run_time && x.layout() != p.layout()) {
    const int axis = first_axis(x.facts->partial & ~p.facts->partial);
    (words() << call << ": a gradient or state has another layout than its parameter"
             << (axis < 0 ? std::string_view()
                          : std::string_view(", being a sum yet to be made along axis '"))
             << (axis < 0 ? std::string_view() : p.facts->axis_name(axis)) << (axis < 0 ? "" : "'")
             << "; complete the gradients first, and relayout no others")
        .raise();
  }
}

/// Was it never made on this rank? (A grid on other ranks has it.)
inline bool is_absent(const tensor_core& x) { return !x.is_shape && x.grid == nullptr; }
/// Was any tensor of a struct made?
template <class S> bool any_is_made(const S& s) {
  const core_list<S> all(s);
  return std::any_of(all.at, all.at + all.size, [](const auto* x) { return !is_absent(*x); });
}

/// Throws dimesh::error unless each of these parameters lives where its gradient and states do, if
/// any of them was made on this rank. All are asked before the first one is updated.
[[gnu::noinline]] inline void require_places(
    const tensor_core* const* p, int count,
    std::initializer_list<const tensor_core* const*> others) {
  for (int i = 0; i < count; ++i) {
    bool is_here = !is_absent(*p[i]);
    for (const auto* list : others) is_here = is_here || !is_absent(*list[i]);
    if (!is_here) continue;
    require_place_of("an optimizer's step", *p[i], *p[i]);
    for (const auto* list : others) require_place_of("an optimizer's step", *p[i], *list[i]);
  }
}

}  // namespace dimesh::detail
