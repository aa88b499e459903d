// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled part of the library (with DIMESH_COMPILED=2), its functions: whatever these headers
// mark, see dimesh/detail/compiled.hpp.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/data/loading.hpp>
#include <dimesh/nn/dense.hpp>
#include <dimesh/nn/moe/parts/filled_op.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/persistent.hpp>
#include <dimesh/op/rotary.hpp>
