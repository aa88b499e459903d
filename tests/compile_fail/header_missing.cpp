// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation that dimesh.hpp does not include.
// alone: what is included is the point
// expect: sort: has a header of its own; #include <dimesh/op/sort.hpp>
// expect: header_missing<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct part : dm::dim<> {};
using loose = dm::tensor<float, whole, batch, part>;
#ifdef COMPILE_FAIL
auto f(const loose& x) { return dm::sort<part>(x); }
#else
#include <dimesh/op/sort.hpp>
auto f(const loose& x) { return dm::sort<part>(x); }
#endif
