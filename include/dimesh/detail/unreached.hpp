// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parameters does a loss leave out? Their gradients are 0, and nothing is wrong with that by
// type; but often a function has captured what it should have taken. Checked builds name them.
//
//   name_unreached("value_and_grad", variables);     // after the way back
#pragma once

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "dimesh/core/pullback.hpp"
#include "dimesh/reflect/paths.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

/// Says once, on the first rank, which variables no path from the value has reached.
template <class V> void name_unreached(const char* call, const V& variables) {
  static std::set<int> told;
  static std::mutex lock;
  if (world_rank() != 0) return;
  const std::lock_guard here(lock);
  const core_list<V> all(variables);
  for (int i = 0; i < all.size; ++i) {
    const tensor_core& v = *all.at[i];
    if (v.is_shape || v.record == nullptr || v.record->filled || !told.insert(i).second) continue;
    const std::string name =
        Tensor<V> ? std::string("the parameter") : path_of(variables, i).text();
    std::fprintf(stderr, "dimesh: note: %s: no path of the value reaches '%s'; its gradient is 0\n",
                 call, name.c_str());
  }
}

}  // namespace dimesh::detail
