// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct that is no dim among a tensor's dims.
// expect: tensor: a dim is wanted here, in the tensor or in split<dim, axis>; name a struct that derives from dim<extent>
// expect: not_a_dim<width>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
struct width {};
dm::tensor<float, by_batch, batch, width> x;
#else
struct width : dm::dim<6> {};
dm::tensor<float, by_batch, batch, width> x;
#endif
