// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled part of the library, its operations and their kernels: whatever these headers mark,
// see dimesh/detail/compiled.hpp.
#undef DIMESH_COMPILED  // functions stand in dimesh.cpp
#define DIMESH_COMPILED 1
#define DIMESH_INSTANCES 1
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/dense.hpp>
#include <dimesh/nn/moe/parts/filled_op.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/persistent.hpp>
#include <dimesh/op/rotary.hpp>
