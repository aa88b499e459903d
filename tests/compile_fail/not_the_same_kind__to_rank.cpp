// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements where only shapes are, as costs are counted with.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/start_to_rank.hpp>

#include "names.hpp"

using wanted = dm::tensor<float, whole>;
using counted = dm::tensor<float, dm::shaped<whole>>;

// mistake: to_rank
// All of them on one rank.
// expect: to_rank: the tensor is a shape, as in a program whose cost is counted, and has no elements; let the cost not depend on them
#ifdef COMPILE_FAIL
auto f(const counted& x) { return dm::to_rank(x); }
#else
auto f(const wanted& x) { return dm::to_rank(x); }
#endif

// mistake: start_to_rank
// The same, begun.
// expect: start_to_rank: the tensor is a shape, as in a program whose cost is counted, and has no elements; let the cost not depend on them
#ifdef COMPILE_FAIL
auto f(const counted& x) { return dm::start_to_rank(x); }
#else
auto f(const wanted& x) { return dm::start_to_rank(x); }
#endif

// mistake: broadcast_element
// One of them on every rank.
// expect: broadcast_element: the tensor is a shape, as in a program whose cost is counted, and has no elements; let the cost not depend on them
#ifdef COMPILE_FAIL
auto f(const counted& x) { return dm::broadcast_element(x, std::array<dm::index_t, 0>{}); }
#else
auto f(const wanted& x) { return dm::broadcast_element(x, std::array<dm::index_t, 0>{}); }
#endif
