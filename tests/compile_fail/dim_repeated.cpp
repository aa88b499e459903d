// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A square matrix needs two names for its dims.
// expect: tensor: a dim stands twice in one tensor; rename one of them
// expect: dim_repeated<hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct hidden_out : dm::dim<6> {};
#ifdef COMPILE_FAIL
dm::tensor<float, hybrid, hidden, hidden> w;
#else
dm::tensor<float, hybrid, hidden, hidden_out> w;
#endif
