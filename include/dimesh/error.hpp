// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the library throw? One family: every run-time error is a dimesh::error whose text names
// the call, the dim, the axis, the sizes and, where ranks differ, the rank.
//
//   try { ... } catch (const dimesh::error& e) { e.what(); }
#pragma once

#include <stdexcept>

namespace dimesh {

struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dimesh
