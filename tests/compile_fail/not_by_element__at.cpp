// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A neighbour outside of a stencil.
// expect: at: it looks around in the function given to stencil; broadcast_element(x, {3, 4}) gives one element of a tensor to every rank
// expect: not_by_element<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& x) { return dm::at<hidden>(x, 1); }
#else
auto f(const row& x) { return dm::broadcast_element(x, {1}); }
#endif
