// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is in the box? Everything up to gradients, two optimizers and prints; read the includes from
// top to bottom, each header answers one question. Included by hand: nn/, element/, grad/cost.hpp
// and what else is in grad/ and optim/, ledger/, pipeline/, show/, io/, interop/ (existing codes),
// random/ with op/categorical.hpp and op/shuffle.hpp, for parts of dims op/slice.hpp,
// op/concat.hpp, op/split_into.hpp, op/expand.hpp, op/merge.hpp, and op/scan.hpp, op/gather.hpp,
// op/sort.hpp, op/logic.hpp.
//
//   #include <dimesh/dimesh.hpp>
//   namespace dm = dimesh;
#pragma once

// clang-format off: the order is for readers
#include "dimesh/layout/fault.hpp"      // the ways a program can be wrong
#include "dimesh/core/members_elsewhere.hpp"  // what tensors are asked for, and do not have
#include "dimesh/dim.hpp"               // struct batch : dim<256> {};
#include "dimesh/axis.hpp"              // struct rows : axis<2> {};
#include "dimesh/mesh.hpp"              // struct pod : mesh<rows, cols> {};
#include "dimesh/layout/shape.hpp"      // extents of a tensor
#include "dimesh/layout.hpp"            // layout<pod, split<batch, rows>>
#include "dimesh/layout/canonical.hpp"  // equal layouts are one type
#include "dimesh/layout/cotangent.hpp"  // the layout of a gradient
#include "dimesh/layout/spec.hpp"       // a tensor's static description
#include "dimesh/layout/block.hpp"      // which elements a rank holds
#include "dimesh/grid.hpp"              // a mesh on the ranks of a communicator
#include "dimesh/runtime.hpp"           // start and end of a program
#include "dimesh/tensor.hpp"            // tensor<float, L, batch, hidden>
#include "dimesh/shaped.hpp"            // a tensor without data
#include "dimesh/core/started.hpp"      // a tensor on its way
#include "dimesh/create.hpp"            // zeros, generate, uniform ...
#include "dimesh/op/refusals/untyped_makers.hpp"   // makers without a type
#include "dimesh/reflect/clone.hpp"     // values in memory of their own
// operations, all local
#include "dimesh/local/dual_in_std.hpp" // numbers with derivatives, which functions in map get
#include "dimesh/op/map.hpp"
#include "dimesh/op/refusals/missing_headers.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/compound.hpp"        // x += y
#include "dimesh/op/outer.hpp"          // all pairs
#include "dimesh/op/compare.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/beside_number.hpp"  // pow(x, 3), maximum(x, 0)
#include "dimesh/op/piecewise.hpp"      // elu, sign, floor_div, mod
#include "dimesh/op/complex.hpp"        // conj, real, imag, norm2
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/rename.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/stop_gradient.hpp"
#include "dimesh/op/take.hpp"           // rows of a table
#include "dimesh/op/dropout.hpp"        // random, the same under every layout
#include "dimesh/op/stencil.hpp"
#include "dimesh/op/refusals/unnamed_calls.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/op/refusals/names_elsewhere.hpp"  // matmul, transpose, allreduce ...
#include "dimesh/op/refusals/wrong_kinds.hpp"    // sentences for names of the wrong kind
#include "dimesh/op/refusals/wrong_numbers.hpp"
#include "dimesh/op/refusals/wrong_functions.hpp"
#include "dimesh/op/refusals/wrong_operators.hpp"
#include "dimesh/op/refusals/wrong_classes.hpp"  // keys, dims and structs in arithmetic
// communication, each named after what it does
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_to_all.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/place.hpp"
#include "dimesh/op/send.hpp"
#include "dimesh/op/own.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/refusals/wrong_calls.hpp"    // sentences for arguments in another order
#include "dimesh/op/permute_along.hpp"  // whole blocks change places
#include "dimesh/op/stencil_exchange.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/whole.hpp"
#include "dimesh/op/softmax.hpp"        // this and the next two complete where their dim is split
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/refusals/wrong_operands.hpp"
#include "dimesh/op/zeros_like.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/relayout_across.hpp"
#include "dimesh/op/start.hpp"         // moves that begin, and are awaited later
#include "dimesh/op/is_legal.hpp"       // may these operands meet?
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/to_space.hpp"
#include "dimesh/op/operation.hpp"      // for operations of one's own
// gradients
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/missing_headers.hpp"
#include "dimesh/optim/sgd.hpp"         // and momentum
#include "dimesh/optim/adam.hpp"
#include "dimesh/show/print.hpp"        // std::cout << x
// clang-format on
