// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim cut that is split unevenly.
// expect: cut: the dim is split unevenly, so that parts would lie on two ranks; whole<dim> it
// expect: dim_is_split<length, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/merge.hpp>

#include "names.hpp"

struct length : dm::dim<> {};
struct token : dm::dim<> {};
struct part : dm::dim<3> {};
using text =
    dm::tensor<float, dm::layout<pod, dm::split<dm::uneven<length>, rows>>, length, hidden>;
#ifdef COMPILE_FAIL
auto f(const text& x) { return dm::cut<length, token, part>(x); }
#else
auto f(const text& x) { return dm::cut<length, token, part>(dm::whole<length>(x)); }
#endif
