// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Can the places along a dim be told in int32? Whatever gives places asks before it begins.
//
//   require_few_places<label>("argmax", x.template extent<label>())
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "dimesh/detail/name.hpp"
#include "dimesh/detail/words.hpp"

namespace dimesh::detail {

/// Throws dimesh::error where n are too many; `where` says which of D's elements they are.
template <class D>
constexpr void require_few_places(std::string_view call, index_t n, std::string_view where = "") {
  if (n > std::numeric_limits<std::int32_t>::max())
    (words() << call << ": dim '" << name_of<D>() << "' has " << n << " elements" << where
             << ", more than places in int32 can tell")
        .raise();
}

}  // namespace dimesh::detail
