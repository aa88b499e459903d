// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do all ranks hold the same parameters where they should? Checked builds ask at every step of an
// optimizer; what differs is named by its path.
//
//   require_replicas_in("sharded", "parameter", params)   // throws: parameter 'layers[0].w' ...
#pragma once

#include <string>

#include "dimesh/core/replicas.hpp"
#include "dimesh/reflect/paths.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

/// Of every tensor of a struct; ranks without one have no part in it.
template <class S>
void require_replicas_in(std::string_view call, const std::string& what, const S& s) {
  const core_list<S> all(s);
  for (int i = 0; i < all.size; ++i) {
    if (!all.at[i]->defined()) continue;
    const std::string name = Tensor<S> ? std::string() : " '" + path_of(s, i).text() + "'";
    require_replicas(call, what + name, *all.at[i]);
  }
}

}  // namespace dimesh::detail
