// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are dims and axes called, as strings? Apart from name.hpp, so that the layers without data
// need none.
//
//   names_of(list<rows, cols>{})   -> {"rows", "cols"}       quoted<batch>()   -> "'batch'"
#pragma once

#include <string>
#include <vector>

#include "dimesh/detail/name.hpp"
#include "dimesh/detail/types.hpp"

namespace dimesh::detail {

template <class... A> std::vector<std::string> names_of(list<A...>) {
  return {std::string(name_of<A>())...};
}
template <class T> std::string quoted() { return "'" + std::string(name_of<T>()) + "'"; }

}  // namespace dimesh::detail
