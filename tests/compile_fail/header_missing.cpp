// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation that dimesh.hpp does not include.
// alone: what is included is the point
// expect: slice: has a header of its own; #include <dimesh/op/slice.hpp>
// expect: header_missing<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct part : dm::dim<> {};
using loose = dm::tensor<float, whole, batch, part>;
#ifdef COMPILE_FAIL
auto f(const loose& x) { return dm::slice<part>(x, 0, 4); }
#else
#include <dimesh/op/slice.hpp>
auto f(const loose& x) { return dm::slice<part>(x, 0, 4); }
#endif
