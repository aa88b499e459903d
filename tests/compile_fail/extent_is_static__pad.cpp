// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding of a dim whose extent is part of its type.
// expect: pad: the dim's extent is part of its type; name the dim of the result: pad<dim, longer>(x, before)
// expect: extent_is_static<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct part : dm::dim<3> {};
struct both : dm::dim<12> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using other = dm::tensor<float, by_batch, batch, part>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pad<hidden>(x, 1, 2); }
#else
auto f(const matrix& x) { return dm::pad<hidden, both>(x, 1); }
#endif
