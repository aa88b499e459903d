// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truths of the neighbours, too.
// expect: any, all: blocks of this dim carry a halo; take the tensor without it
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<bool, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::any<batch>(x); }
#else
auto f(const haloed& x) { return dm::any<hidden>(x); }
#endif
