// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled part of the library: see dimesh/detail/compiled.hpp.
#undef DIMESH_COMPILED
#define DIMESH_COMPILED 2
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/dense.hpp>
